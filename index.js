exports.handler = () =>
  require("node:fs").openSync(
    '/tmp/animal-store test\'s "$HOME" & co-fxUIe8/tmp/animal-store-start-Am0Rr2/fifo',
  );
