// Sends a server raw bytes that no HTTP client would send.
import { once } from 'node:events'
import { connect } from 'node:net'

export type RawResponse = { readonly status: number; readonly head: string; readonly body: string }

/**
 * Sends a latin1 string, and reads until the server closes the connection.
 * @returns all responses, in order
 * @throws for bytes that are not a response with content-length
 */
export async function exchange(port: number, bytes: string): Promise<readonly RawResponse[]> {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.setEncoding('latin1').on('data', (text) => {
    received += text
  })
  // A server that rejects a request may reset the connection while we still send.
  socket.on('error', () => undefined)
  socket.write(Buffer.from(bytes, 'latin1'))
  await once(socket, 'close')
  return responsesIn(received)
}

function responsesIn(received: string): readonly RawResponse[] {
  if (received === '') return []
  const [head = ''] = received.split('\r\n\r\n', 1)
  // A 100 Continue comes before the response.
  if (head.startsWith('HTTP/1.1 100 ')) return responsesIn(received.slice(head.length + 4))
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]
  const length = /^content-length: (\d+)$/im.exec(head)?.[1]
  if (status === undefined || length === undefined) throw new Error(`not a response: ${JSON.stringify(received)}`)
  const end = head.length + 4 + Number(length)
  const body = received.slice(head.length + 4, end)
  return [{ status: Number(status), head, body }, ...responsesIn(received.slice(end))]
}

/**
 * The bytes of a request.
 * @param lines headers besides Host and Content-Length, which is added for a body
 */
export function bytesOf(requestLine: string, lines: readonly string[], body = ''): string {
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body, 'latin1')}`]
  return `${[`${requestLine} HTTP/1.1`, 'Host: paylog.example', ...lines, ...length].join('\r\n')}\r\n\r\n${body}`
}
