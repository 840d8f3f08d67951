// Requests as bytes, proper HTTP or not.
import type { Random } from '../campaign/random.ts'
import { oneOf } from './mutations.ts'

export type HttpParts = {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | undefined
}

/** @param options `head` instead of the request line, one more `line`, and another `ending` of lines */
export function bytesOf(
  { method, path, headers, body = Buffer.alloc(0) }: HttpParts,
  { head = `${method} ${path} HTTP/1.1`, line = 'accept: */*', ending = '\r\n' } = {},
): Buffer {
  const all = { host: 'localhost', connection: 'close', 'content-length': body.length, ...headers }
  const lines = [head, line, ...Object.entries(all).map(([name, value]) => `${name}: ${value}`), '', '']
  return Buffer.concat([Buffer.from(lines.join(ending)), body])
}

const oddLines = [
  ...['transfer-encoding: chunked', 'transfer-encoding: gzip', 'Transfer-Encoding : chunked', 'content-length: 1'],
  ...[
    'content-length: -1',
    `x: ${'y'.repeat(20_000)}`,
    ' folded: a',
    'no colon',
    ': empty',
    'x-session-id: demo-session',
  ],
  ...['expect: 100-continue', 'expect: x', 'upgrade: websocket', 'connection: upgrade', 'host: a, b', 'te: trailers'],
]

/** Something that no HTTP client sends, or that is allowed and rare. */
export function rawBytes(parts: HttpParts, random: Random): Buffer {
  const { method, path } = parts
  const whole = bytesOf(parts)
  const at = random.between(0, Math.min(whole.length, 400))
  const versions = ['1.0', '2.0', '0.9', '1.2', '9'].map((version) => `${method} ${path} HTTP/${version}`)
  const heads = [
    ...versions,
    `${method}  ${path} HTTP/1.1`,
    `${method} http://a.example${path} HTTP/1.1`,
    'GET * HTTP/1.1',
    path,
  ]
  switch (random.weighted({ byte: 3, head: 3, line: 4, ending: 1, noise: 1, more: 1 })) {
    case 'byte':
      return Buffer.concat([whole.subarray(0, at), Buffer.from([random.between(0, 255)]), whole.subarray(at + 1)])
    case 'head':
      return bytesOf(parts, { head: oneOf(random, heads) })
    case 'line':
      return bytesOf(parts, { line: oneOf(random, oddLines) })
    case 'ending':
      return bytesOf(parts, { ending: '\n' })
    case 'noise':
      return Buffer.from('\u0016\u0003\u0001'.repeat(random.between(1, 9_000)))
    case 'more':
      return Buffer.concat([whole, whole.subarray(0, at)])
  }
}
