// Sends a planned request: through an HTTP client, or as bytes on its own connection.
import { connect } from 'node:net'
import { Pool as Connections, type Dispatcher } from 'undici'
import type { PlannedRequest } from './plan.ts'
import { bytesOf } from './rawBytes.ts'

export type ReceivedResponse = {
  /** 0 without a response. */
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}
export type Send = (request: PlannedRequest) => Promise<ReceivedResponse>

const timeoutMs = 30_000
/** For the response to bytes that may be an incomplete request. */
const incompleteMs = 1_000

export function createSender(stack: AsyncDisposableStack, url: string, connections: number): Send {
  const pool = new Connections(url, { connections, headersTimeout: timeoutMs, bodyTimeout: timeoutMs })
  stack.defer(() => pool.destroy())
  return async (request) => {
    if (request.raw) return sendBytes(url, request.raw, incompleteMs)
    if (!isPlainHttp(request)) return sendBytes(url, bytesOf(request), timeoutMs)
    try {
      const { method, path, headers, body = null } = request
      const response = await pool.request({ method: method as Dispatcher.HttpMethod, path, headers, body })
      return { status: response.statusCode, headers: response.headers, text: await response.body.text() }
    } catch (error) {
      return { status: 0, headers: {}, text: String(error) }
    }
  }
}

/** Whether the client sends it as it is. */
function isPlainHttp({ method, path, headers }: PlannedRequest): boolean {
  const isText = Object.values(headers).every((value) => /^[\t\x20-\x7e]*$/.test(value))
  return isText && /^\/[\x21-\x7e]*$/.test(path) && !/TRACE|QUERY/.test(method)
}

/**
 * @param patienceMs after this time without a response, the server is told that nothing more comes
 * @returns the first response
 */
function sendBytes(url: string, bytes: Buffer, patienceMs: number): Promise<ReceivedResponse> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect({ host: hostname, port: Number(port) }, () => void socket.write(bytes))
    const timers = [setTimeout(() => socket.destroy(), timeoutMs), setTimeout(() => socket.end(), patienceMs)]
    socket.on('data', (chunk) => void chunks.push(chunk))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      for (const timer of timers) clearTimeout(timer)
      resolve(responseIn(Buffer.concat(chunks)))
    })
  })
}

function responseIn(bytes: Buffer): ReceivedResponse {
  const [head = '', ...rest] = bytes.toString().split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? 0)
  // What comes before the final response.
  if (status === 100) return responseIn(Buffer.from(rest.join('\r\n\r\n')))
  const headers = Object.fromEntries(lines.map((line) => line.toLowerCase().split(': ')))
  return { status, headers, text: rest[0] ?? '' }
}
