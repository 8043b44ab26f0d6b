(function () {
  'use strict';
  var root = document.documentElement;
  var all = function (query, from) { return Array.prototype.slice.call((from || document).querySelectorAll(query)); };
  root.classList.add('has-js');

  document.getElementById('theme').addEventListener('click', function () {
    var dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
  });

  all('.chips button').forEach(function (chip) {
    chip.addEventListener('click', function () {
      var on = chip.getAttribute('aria-pressed') === 'false';
      all('.chips button[data-arm="' + chip.dataset.arm + '"]').forEach(function (twin) {
        twin.setAttribute('aria-pressed', on);
      });
      all('g.arm[data-arm="' + chip.dataset.arm + '"]').forEach(function (group) {
        group.classList.toggle('off', !on);
      });
    });
  });

  // A copied figure takes its colours along: other programs know nothing of this page's variables.
  function svgText(svg) {
    var copy = svg.cloneNode(true), box = svg.viewBox.baseVal;
    copy.setAttribute('width', box.width);
    copy.setAttribute('height', box.height);
    copy.removeAttribute('class');
    var style = getComputedStyle(root);
    return new XMLSerializer().serializeToString(copy).replace(/var\((--[a-z0-9]+)\)/g, function (_, name) {
      return style.getPropertyValue(name).trim();
    });
  }
  function csvText(table) {
    return all('tr', table).map(function (row) {
      return Array.prototype.map.call(row.cells, function (cell) {
        var text = cell.dataset.v || cell.textContent;
        return /[",\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
      }).join(',');
    }).join('\n') + '\n';
  }
  function copy(text, button) {
    var said = button.textContent;
    var tell = function (word) {
      button.textContent = word;
      setTimeout(function () { button.textContent = said; }, 1500);
    };
    var byHand = function () {
      var area = document.createElement('textarea');
      area.value = text;
      document.body.appendChild(area);
      area.select();
      tell(document.execCommand('copy') ? 'copied' : 'cannot copy');
      area.remove();
    };
    if (navigator.clipboard && navigator.clipboard.writeText) {
      navigator.clipboard.writeText(text).then(function () { tell('copied'); }, byHand);
    } else {
      byHand();
    }
  }
  all('button[data-copy]').forEach(function (button) {
    button.addEventListener('click', function () {
      if (button.dataset.copy === 'svg') {
        copy(svgText(button.closest('figure').querySelector('svg.wide')), button);
      } else {
        copy(csvText(document.getElementById(button.dataset.copy)), button);
      }
    });
  });

  // Paper has no triangles to click on.
  addEventListener('beforeprint', function () {
    all('details:not([open])').forEach(function (box) { box.open = true; box.dataset.shut = ''; });
  });
  addEventListener('afterprint', function () {
    all('details[data-shut]').forEach(function (box) { box.open = false; delete box.dataset.shut; });
  });
})();
