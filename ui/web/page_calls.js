// What ui/app/window/page.h declares. Text comes and goes as UTF-8 in the program's memory.

addToLibrary({
  $page: {
    // A file's bytes, under its own name, in the file system that the program sees.
    take: async (file) => {
      const folder = '/opened';
      if (!FS.analyzePath(folder).exists) FS.mkdir(folder);
      const path = `${folder}/${file.name.replaceAll('/', '_')}`;
      FS.writeFile(path, new Uint8Array(await file.arrayBuffer()));
      return path;
    },

    takeAll: async (files) => {
      const paths = [];
      for (const file of files) paths.push(await page.take(file));
      paths.forEach((path, i) => page.giveFile(path, i + 1 < paths.length));
    },

    giveFile: () => {},
    pasted: 0,  // nothing yet

    // Keys that the window takes itself, and that a browser would do something else with. Pasting, tabs, reloading and
    // the developer's tools stay the browser's.
    isOurs: ({key, ctrlKey, metaKey, altKey}) => {
      if (altKey) return false;
      if (ctrlKey || metaKey) return key.length === 1 ? !/[ijnqrtvw]/i.test(key) : ['Enter', 'Backspace'].includes(key);
      return ['F1', 'F3', 'F5', 'F8', "'", '/', ' '].includes(key);
    },
  },
  $page__deps: ['$FS'],

  // Each thread is a worker of the page, and costs megabytes: of many cores only some are told of.
  emscripten_num_logical_cores: () => Math.min(navigator.hardwareConcurrency, 4),

  page_listen__deps: ['$page'],
  page_listen: (turn, window_) => {
    const call = () => {{{ makeDynCall('vp', 'turn') }}}(window_);
    const kinds = ['keydown', 'keyup', 'mousedown', 'mouseup', 'mousemove', 'mouseenter', 'mouseleave', 'wheel',
                   'touchstart', 'touchmove', 'touchend', 'focus', 'blur', 'resize', 'paste'];
    addEventListener('keydown', (event) => page.isOurs(event) && event.preventDefault(), true);
    addEventListener('paste', (event) => page.pasted = event.clipboardData.getData('text/plain'), true);
    for (const kind of kinds) addEventListener(kind, call, {capture: true, passive: true});
    document.addEventListener('visibilitychange', call);
  },

  page_copy__deps: ['$page'],
  page_copy: (text) => {
    page.pasted = UTF8ToString(text);
    navigator.clipboard?.writeText(page.pasted).catch(() => {});
  },

  page_pasted__deps: ['$page', '$stringToNewUTF8'],
  page_pasted: () => stringToNewUTF8(page.pasted || ''),

  page_is_on_a_mac: () => /Mac|iP(hone|ad|od)/.test(navigator.platform),

  page_take_files__deps: ['$page', '$stringToNewUTF8', 'free'],
  page_take_files: (take, window_) => {
    page.giveFile = (path, more) => {
      const text = stringToNewUTF8(path);
      {{{ makeDynCall('vppi', 'take') }}}(window_, text, more);
      _free(text);
    };
    addEventListener('dragover', (event) => event.preventDefault(), true);
    addEventListener('drop', (event) => {
      event.preventDefault();
      event.stopPropagation();
      page.takeAll([...event.dataTransfer.files]);
    }, true);
  },

  page_choose_files__deps: ['$page'],
  page_choose_files: () => {
    const chooser = document.getElementById('chooser');
    chooser.onchange = () => page.takeAll([...chooser.files]).then(() => chooser.value = '');
    chooser.click();
  },

  page_download__deps: ['$FS'],
  page_download: (file) => {
    const path = UTF8ToString(file);
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([FS.readFile(path)]));
    link.download = path.slice(path.lastIndexOf('/') + 1);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  },

  page_asks__deps: ['$stringToNewUTF8'],
  page_asks: (name) => stringToNewUTF8(Module['asks'][UTF8ToString(name)] ?? ''),
  page_address__deps: ['$stringToNewUTF8'],
  page_address: () => stringToNewUTF8(location.origin + location.pathname),
  page_ready: () => Module['ready'](),
  page_fail: (sentence) => Module['fail'](UTF8ToString(sentence)),
});
