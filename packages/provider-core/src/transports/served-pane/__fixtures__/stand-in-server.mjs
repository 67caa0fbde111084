// A stand-in for a CLI's server: answers `initialize` on a WebSocket over the Unix socket it is given, and nothing else.
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

const http = createServer();
new WebSocketServer({ server: http }).on('connection', (socket) => {
  socket.on('message', (data) => {
    const { id, method } = JSON.parse(String(data));
    if (method === 'initialize') socket.send(JSON.stringify({ id, result: { version: '1.0.0' } }));
  });
});
http.listen(process.argv[2]);
process.on('SIGTERM', () => process.exit(0));
