// A conversation in bytes with a server: what no HTTP client would send.
import { once } from 'node:events'
import { connect } from 'node:net'

export type RawResponse = { readonly status: number; readonly head: string; readonly body: string }

/**
 * Sends bytes, a character each, and reads until the server closes the connection.
 * @returns every answer that came, in order
 * @throws when something came that is no answer with a length
 */
export async function exchange(port: number, bytes: string): Promise<readonly RawResponse[]> {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.setEncoding('latin1').on('data', (text) => {
    received += text
  })
  // A server that refuses may reset the connection on which more is on its way.
  socket.on('error', () => undefined)
  socket.write(Buffer.from(bytes, 'latin1'))
  await once(socket, 'close')
  return responsesIn(received)
}

function responsesIn(received: string): readonly RawResponse[] {
  if (received === '') return []
  const [head = ''] = received.split('\r\n\r\n', 1)
  // An answer to Expect comes before that to the request.
  if (head.startsWith('HTTP/1.1 100 ')) return responsesIn(received.slice(head.length + 4))
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]
  const length = /^content-length: (\d+)$/im.exec(head)?.[1]
  if (status === undefined || length === undefined) throw new Error(`This is no answer: ${JSON.stringify(received)}`)
  const end = head.length + 4 + Number(length)
  const body = received.slice(head.length + 4, end)
  return [{ status: Number(status), head, body }, ...responsesIn(received.slice(end))]
}

/**
 * The bytes of a request.
 * @param lines its headers, Host and Content-Length aside; a body is described by its length
 */
export function bytesOf(requestLine: string, lines: readonly string[], body = ''): string {
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body, 'latin1')}`]
  return `${[`${requestLine} HTTP/1.1`, 'Host: paylog.example', ...lines, ...length].join('\r\n')}\r\n\r\n${body}`
}
