// A client that writes bytes, because fetch cannot send invalid or incomplete requests.
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Test } from 'tap'

/** A connection that ends with the test. @param localAddress the address of the client */
export async function connectRaw(t: Test, url: string, localAddress = '127.0.0.1') {
  const { hostname: host, port } = new URL(url)
  const socket = connect({ host, port: Number(port), localAddress })
  t.teardown(() => socket.destroy())
  let received = ''
  socket.setEncoding('latin1').on('data', (text) => {
    received += text
  })
  // A server that rejects a request may reset the connection while the client still sends.
  socket.on('error', () => undefined)
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  await once(socket, 'connect')
  const write = (text: string) => void socket.write(text, 'latin1')
  return {
    closed,
    received: () => received,
    write,
    get: (path: string) => write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`),
    /** Stops reading. */
    pause: () => void socket.pause(),
    destroy: () => void socket.destroy(),
  }
}

/** Sends bytes. @returns what the server sends until it closes the connection */
export async function sendRaw(t: Test, url: string, bytes: string): Promise<string> {
  const { closed, received, write } = await connectRaw(t, url)
  write(bytes)
  await closed
  return received()
}
