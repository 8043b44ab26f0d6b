-- A store of schema version 1 as it was released: one experiment of four slots, a run that is done, one that failed
-- and one that has only started. Never changes.
PRAGMA foreign_keys = OFF;
PRAGMA application_id = 1953391214;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE env (
    id INTEGER PRIMARY KEY,
    sha256 BLOB NOT NULL UNIQUE,
    facts_json_zstd BLOB NOT NULL
) STRICT;
INSERT INTO "env" VALUES(1,X'D1FAA632BA1531711423FD12DD91C708B96F01C889E53DC889512F4015156C3A',X'28B52FFD64AB000D0600B2CA211F5069DB0630C54CF67E0B25139D116A07000504CB5E1942F1C51B26313313428B44B4F989028281270A024F4EE5C1701C08800484B58ABD56BE45D017A6A7E4818291D9294C0386DD929152DBCF1959DF2002CEAF13A430EB4C866EE966F163C4FBF35D94A49B1FB81A1ACA29E3E797B4736FAE0ED9A9024BDCC5A5D77EAEA97A5FCED342BE041400A0F6401486520D09276A20B2072561D01132244C0DBCF24231632C764011C670820919564266CB15845361641438E033A19A021C057A9CF287');
CREATE TABLE experiment (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    created_at_seconds REAL NOT NULL,
    name TEXT NOT NULL,
    question TEXT,
    arms_json TEXT NOT NULL,
    plan_json TEXT NOT NULL,
    plan_hash TEXT NOT NULL,
    seed INTEGER NOT NULL
) STRICT;
INSERT INTO "experiment" VALUES(1,'0a1b',1.5,'nic','Is nic faster?','["mtu-1500","mtu-9000"]','{"name":"nic","question":"Is nic faster?","blocks":2,"margin":0.02,"seed":18446744073709551615,"order":"few-changes","rest":1e-9,"hosts":{"client":{"place":"local","sudo":true,"address":"192.0.2.1","interface":null},"server":{"place":{"lab":"right"},"sudo":true,"address":"192.0.2.1","interface":null}},"lab":{"link":{"rate":null,"burst":null,"overhead":null,"wire_segments":null,"offload":null}},"arms":[{"name":"mtu-1500","set":{"mtu":1500,"offload":false,"congestion":"cubic","env":{},"link":{"rate":18446744073709551615,"burst":null,"overhead":null,"wire_segments":null,"offload":null}},"before":[{"host":null,"argv":["true"]}],"after":[],"change":{"seconds":0.30000000000000004},"hosts":{"server":{"place":{"exec":["sh",""]},"sudo":true,"address":"192.0.2.1","interface":null}},"params":{"ping":{"count":3}}},{"name":"mtu-9000","set":{"mtu":9000,"offload":false,"congestion":"cubic","env":{},"link":{"rate":18446744073709551615,"burst":null,"overhead":null,"wire_segments":null,"offload":null}},"before":[{"host":null,"argv":["true"]}],"after":[],"change":{"seconds":0.30000000000000004},"hosts":{"server":{"place":{"exec":["sh",""]},"sudo":true,"address":"192.0.2.1","interface":null}},"params":{"ping":{"count":3}}}],"measures":[{"engine":"iperf3","name":null,"from":"client","to":"server","params":{"command":["a"],"reverse":true,"size":9007199254740992,"text":"true","time":3.0}}],"text":"question = \"?\"\n"}','h',7);
CREATE TABLE lease (
    experiment INTEGER PRIMARY KEY REFERENCES experiment(id),
    host TEXT NOT NULL,
    boot_id TEXT NOT NULL,
    pid INTEGER NOT NULL,
    pid_started INTEGER NOT NULL,
    since_seconds REAL NOT NULL
) STRICT;
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    experiment INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('started', 'done', 'failed', 'invalid')),
    started_at_seconds REAL NOT NULL,
    ended_at_seconds REAL,
    error TEXT,
    run_json TEXT,
    UNIQUE (experiment, seq),
    FOREIGN KEY (experiment, slot) REFERENCES slot(experiment, idx)
) STRICT;
INSERT INTO "run" VALUES(1,1,0,0,'done',2.0,2.5,NULL,'{"source":"iperf3 client->server","tool":"tenbin","tool_version":"0.1.0","benchmark":"iperf3","series":[],"facts":{"congestion":{"value":"cubic","source":"getsockopt","class":"state"}},"caveats":[{"kind":"coarse-clock","text":"the clock is coarse"}],"taint":{"level":"suspect","reasons":["steal time rose"]}}');
INSERT INTO "run" VALUES(2,1,1,1,'failed',2.0,3.0,'refused',NULL);
INSERT INTO "run" VALUES(3,1,2,2,'started',2.0,NULL,NULL,NULL);
CREATE TABLE run_host (
    run INTEGER NOT NULL REFERENCES run(id),
    host TEXT NOT NULL,
    env INTEGER NOT NULL REFERENCES env(id),
    counters_json_zstd BLOB NOT NULL,
    PRIMARY KEY (run, host)
) STRICT, WITHOUT ROWID;
INSERT INTO "run_host" VALUES(1,'client',1,X'28B52FFD244605020062040F15A05707684A28259FF2BB44EA7F09C3311CF73F0A01AD59BF47A1343AA562D2C3EBC2EDCF2552E28C7EAA42C923405F99B2CCD0851260D893FD310B00B85F361B');
INSERT INTO "run_host" VALUES(1,'server',1,X'28B52FFD244605020062040F15A05707684A28259FF2BB44EA7F09C3311CF73F0A01AD59BF47A1343AA562D2C3EBC2EDCF2552E28C7EAA42C923405F99B2CCD0851260D893FD310B00B85F361B');
CREATE TABLE series (
    run INTEGER NOT NULL REFERENCES run(id),
    idx INTEGER NOT NULL,
    series_json TEXT NOT NULL,
    n INTEGER NOT NULL,
    encoding INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (run, idx)
) STRICT;
INSERT INTO "series" VALUES(1,0,'{"name":"throughput","unit":"bit/s","better":"higher","params":{"share":1.0,"side":"client","size_bytes":-9223372036854775808},"headline":"median","samples":[],"reported":{"mean":0.30000000000000004}}',3,1,X'28B52FFD2433DD00009801020064640055656543CDCDDECDBDB34141410200BA42D4A008089E34D8');
INSERT INTO "series" VALUES(1,1,'{"name":"rtt","unit":"s","better":"lower","params":{"share":1.0,"side":"client","size_bytes":-9223372036854775808},"samples":[],"reported":{"mean":0.30000000000000004}}',0,1,X'28B52FFD24021100000001D67C5BA8');
CREATE TABLE slot (
    experiment INTEGER NOT NULL REFERENCES experiment(id),
    idx INTEGER NOT NULL,
    block INTEGER NOT NULL,
    position INTEGER NOT NULL,
    arm INTEGER NOT NULL,
    measure INTEGER NOT NULL,
    PRIMARY KEY (experiment, idx),
    UNIQUE (experiment, block, position, arm, measure)
) STRICT, WITHOUT ROWID;
INSERT INTO "slot" VALUES(1,0,0,0,0,0);
INSERT INTO "slot" VALUES(1,1,0,1,1,0);
INSERT INTO "slot" VALUES(1,2,1,0,1,0);
INSERT INTO "slot" VALUES(1,3,1,1,0,0);
COMMIT;
