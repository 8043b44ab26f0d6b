//! iputils and Windows in other languages than English.

use super::*;

/// iputils in its languages, by hand: the words are those of its translations.
#[test]
fn languages_of_iputils() {
    let check = |text: &str, wanted: &str| {
        let header = "PING 10.0.0.9 (10.0.0.9) 56(84) bytes of data.\n";
        let run = one(&[header, text].concat());
        assert_eq!(brief(&run), wanted, "{text}");
    };
    let lost = "rtt 50 50 50 50 0; packets_sent 3; packets_received 1; loss 0.666667; duration 1.004";
    check(
        "64 octets de 10.0.0.9 : icmp_seq=1 ttl=64 temps=0.050 ms\n\
         encore aucune réponse pour icmp_seq=2\n\n\
         --- statistiques ping 10.0.0.9 ---\n\
         3 paquets transmis, 1 reçus, 66,6667 % paquets perdus, temps 1004 ms\n\
         rtt min/moy/max/mdev = 0,050/0,050/0,050/0,000 ms\n",
        &format!("{lost}; locale"),
    );
    check(
        "64 bajtů od 10.0.0.9: pořadí=1 TTL=64 čas=0.050 ms\n\
         Od 10.0.0.1 pořadí=2 Cílový počítač je nedostupný\n\n\
         --- Statistika pingů na 10.0.0.9 ---\n\
         3 paketů odesláno, 1 přijato, +1 chyb, 66.6667% ztráta paketů, čas 1004 ms\n\
         rtt min/prům/max/std.odch = 0.050/0.050/0.050/0.000 ms\n",
        &format!("{lost}; error-reported"),
    );
    check(
        "64 字节，来自 10.0.0.9: icmp_seq=1 ttl=64 时间=0.050 毫秒\n\
         64 字节，来自 10.0.0.9: icmp_seq=1 ttl=64 时间=0.070 毫秒 (重复!)\n\
         icmp_seq=2 未响应\n\n\
         --- 10.0.0.9 ping 统计 ---\n\
         已发送 3 个包， 已接收 1 个包, +1 重复, 66.6667% 包丢失, 耗时 1004 毫秒\n\
         rtt 最小/平均/移动平均/最大 = 0.050/0.060/0.070/0.010 ms\n",
        "rtt 50 50 60 70 10; packets_sent 3; packets_received 1; loss 0.666667; duplicates 1; duration 1.004; \
         duplicates",
    );
    check(
        "10.0.0.9 bayt veri 64 10.0.0.9'den: icmp_seq=1 ttl=64 zaman=0.050 ms\n\
         10.0.0.1'den icmp_seq=2 Hedef makineye ulaşılamıyor\n\n\
         --- 10.0.0.9 ping istatistikleri ---\n\
         3 paket iletildi, 1 alındı, +1 hata, %66.6667 paket kaybı, zaman 1004ms\n\
         rtt en düşük/ortalama/en yüksek/mdev = 0.050/0.050/0.050/0.000 ms, boru 2\n",
        &format!("{lost}; error-reported"),
    );
    check(
        "64 データ長(byte)\n 送信元 10.0.0.9 icmp_seq=1 ttl=64 時間=0.050 ミリ秒\n\
         icmp_seq=2 が未応答です\n\n\
         --- 10.0.0.9 ping 統計 ---\n\
         送信パケット数 3, 受信パケット数 1, パケット損失 66.6667%, 時間 1004ミリ秒\n\
         rtt 最小/平均/最大/mdev = 0.050/0.050/0.050/0.000ミリ秒\n",
        lost,
    );
    check(
        "64 байтів від 10.0.0.9: icmp_seq=1 ttl=64 час=0.050 мс\n\
         З 10.0.0.1 icmp_seq=2 Вузол призначення недоступний\n\n\
         --- Статистика пінгування 10.0.0.9 ---\n\
         Надіслано 3 пакетів, отримано 1, +1 помилок, втрачено 66.6667% пакетів, час 1004 мс\n\
         rtt мін/сер/макс/mdev = 0.050/0.050/0.050/0.000 мс\n",
        &format!("{lost}; error-reported"),
    );
    check(
        "64 tavua 10.0.0.9:lta: icmp_seq=1 ttl=64 aika=0.050 ms\n\n\
         -- 10.0.0.9 ping-tilastot --\n\
         3 paketteja lähetetty, 1 otettu vastaan, 66.6667 % pakettihäviö, aika 1004 ms\n\
         rtt min/keskiarvo/maks/keskiarvopoikkeama = 0.050/0.050/0.050/0.000 ms, putki 2\n",
        lost,
    );
}

/// Windows in its languages, by hand.
#[test]
fn languages_of_windows() {
    let check = |text: &str| {
        let wanted = "rtt 14000 16000 - 15000 16000 -; packets_sent 4; packets_received 3; packets_lost 1; loss 0.25; note";
        let run = one(text);
        assert_eq!(brief(&run), wanted, "{text}");
        assert_eq!(run.facts["ping.host"].value, Some("example.org".into()), "{text}");
        assert_eq!(run.series[4].reported["mean"], 0.25, "{text}");
    };
    check(
        "Envoi d\u{2019}une requête 'ping' sur example.org [10.0.0.9] avec 32 octets de données\u{a0}:\n\
         Réponse de 10.0.0.9\u{a0}: octets=32 temps=14 ms TTL=57\nRéponse de 10.0.0.9\u{a0}: octets=32 temps=16 ms TTL=57\n\
         Délai d\u{2019}attente de la demande dépassé.\nRéponse de 10.0.0.9\u{a0}: octets=32 temps<1ms TTL=57\n\n\
         Statistiques Ping pour 10.0.0.9:\n    Paquets\u{a0}: envoyés = 4, reçus = 3, perdus = 1 (perte 25%),\n\
         Durée approximative des boucles en millisecondes :\n    Minimum = 0ms, Maximum = 16ms, Moyenne = 15ms\n",
    );
    check(
        "Haciendo ping a example.org [10.0.0.9] con 32 bytes de datos:\n\
         Respuesta desde 10.0.0.9: bytes=32 tiempo=14ms TTL=57\nRespuesta desde 10.0.0.9: bytes=32 tiempo=16ms TTL=57\n\
         Tiempo de espera agotado para esta solicitud.\nRespuesta desde 10.0.0.9: bytes=32 tiempo<1m TTL=57\n\n\
         Estadísticas de ping para 10.0.0.9:\n    Paquetes: enviados = 4, recibidos = 3, perdidos = 1\n    (25% perdidos),\n\
         Tiempos aproximados de ida y vuelta en milisegundos:\n    Mínimo = 0ms, Máximo = 16ms, Media = 15ms\n",
    );
    check(
        "Esecuzione di Ping example.org [10.0.0.9] con 32 byte di dati:\n\
         Risposta da 10.0.0.9: byte=32 durata=14ms TTL=57\nRisposta da 10.0.0.9: byte=32 durata=16ms TTL=57\n\
         Richiesta scaduta.\nRisposta da 10.0.0.9: byte=32 durata<1ms TTL=57\n\n\
         Statistiche Ping per 10.0.0.9:\n    Pacchetti: Trasmessi = 4, Ricevuti = 3,\n    Persi = 1 (25% persi),\n\
         Tempo approssimativo percorsi andata/ritorno in millisecondi:\n    Minimo = 0ms, Massimo =  16ms, Medio =  15ms\n",
    );
    check(
        "Disparando example.org [10.0.0.9] com 32 bytes de dados:\n\
         Resposta de 10.0.0.9: bytes=32 tempo=14ms TTL=57\nResposta de 10.0.0.9: bytes=32 tempo=16ms TTL=57\n\
         Esgotado o tempo limite do pedido.\nResposta de 10.0.0.9: bytes=32 tempo<1ms TTL=57\n\n\
         Estatísticas do Ping para 10.0.0.9:\n    Pacotes: Enviados = 4, Recebidos = 3, Perdidos = 1 (25% de\n    perda),\n\
         Aproximar um número redondo de vezes em milissegundos:\n    Mínimo = 0ms, Máximo = 16ms, Média = 15ms\n",
    );
    check(
        "Обмен пакетами с example.org [10.0.0.9] с 32 байтами данных:\n\
         Ответ от 10.0.0.9: число байт=32 время=14мс TTL=57\nОтвет от 10.0.0.9: число байт=32 время=16мс TTL=57\n\
         Превышен интервал ожидания для запроса.\nОтвет от 10.0.0.9: число байт=32 время<1мс TTL=57\n\n\
         Статистика Ping для 10.0.0.9:\n    Пакетов: отправлено = 4, получено = 3, потеряно = 1\n    (25% потерь)\n\
         Приблизительное время приема-передачи в мс:\n    Минимальное = 0мсек, Максимальное = 16 мсек, Среднее = 15 мсек\n",
    );
    check(
        "正在 Ping example.org [10.0.0.9] 具有 32 字节的数据:\n\
         来自 10.0.0.9 的回复: 字节=32 时间=14ms TTL=57\n来自 10.0.0.9 的回复: 字节=32 时间=16ms TTL=57\n\
         请求超时。\n来自 10.0.0.9 的回复: 字节=32 时间<1ms TTL=57\n\n\
         10.0.0.9 的 Ping 统计信息:\n    数据包: 已发送 = 4，已接收 = 3，丢失 = 1 (25% 丢失)，\n\
         往返行程的估计时间(以毫秒为单位):\n    最短 = 0ms，最长 = 16ms，平均 = 15ms\n",
    );
}
