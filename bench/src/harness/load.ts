// Sends requests over kept-alive connections, one at a time on each, with little CPU: it shares the cores with the
// measured system.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Times } from './benchmark.ts'

/** The next request as raw HTTP. */
export type NextRequest = () => string

export type Load = {
  readonly port: number
  readonly connections: number
  readonly seconds: number
  /** Requests per second at random times. Without it, each response is followed by the next request at once. */
  readonly rate: number | undefined
  readonly expectedStatus?: number
  /** Called with each raw response. */
  readonly onResponse?: (result: string) => void
}

const headEnd = '\r\n\r\n'

/** @returns duration and end of each request; with a rate, measured from the scheduled time */
export async function measureLoad(load: Load, next: NextRequest, random: () => number): Promise<Times> {
  const sockets = await Promise.all(Array.from({ length: load.connections }, () => open(load.port)))
  const times: { ms: number; endedAt: number }[] = []
  const until = performance.now() + load.seconds * 1_000
  const send = async (socket: Socket, since: number) => {
    const response = await sendAndReceive(socket, next(), load.expectedStatus ?? 200)
    const endedAt = performance.now()
    times.push({ ms: endedAt - since, endedAt })
    load.onResponse?.(response)
  }
  try {
    if (load.rate === undefined) await Promise.all(sockets.map((socket) => sendSequentially(socket, send, until)))
    else await sendOnSchedule(sockets, send, arrivals(load.rate, until, random))
  } finally {
    for (const socket of sockets) socket.destroy()
  }
  return times
}

type SendRequest = (socket: Socket, since: number) => Promise<void>

async function sendSequentially(socket: Socket, send: SendRequest, until: number): Promise<void> {
  for (let now = performance.now(); now < until; now = performance.now()) await send(socket, now)
}

/** Random arrival times of many independent clients, each yielded when it is due. */
export async function* arrivals(rate: number, until: number, random: () => number): AsyncGenerator<number> {
  let due = performance.now()
  while (due < until) {
    const early = due - performance.now()
    if (early > 0) await pause(early)
    // A timer may be up to a millisecond late, which must not count.
    yield early > 0 ? performance.now() : due
    due += (-Math.log(1 - random()) * 1_000) / rate
  }
}

/**
 * A request that finds all connections busy waits, and the wait counts. The connections take turns: `command-api` and
 * `query-api` close one that sends nothing in its first five seconds.
 */
async function sendOnSchedule(
  sockets: readonly Socket[],
  send: SendRequest,
  startTimes: AsyncIterable<number>,
): Promise<void> {
  const idle = [...sockets]
  const waiting: number[] = []
  const pending = new Set<Promise<void>>()
  const serve = async (socket: Socket, since: number) => {
    await send(socket, since)
    const next = waiting.shift()
    if (next === undefined) idle.push(socket)
    else await serve(socket, next)
  }
  for await (const since of startTimes) {
    const socket = idle.shift()
    if (socket === undefined) {
      waiting.push(since)
      continue
    }
    const served = serve(socket, since).finally(() => pending.delete(served))
    pending.add(served)
  }
  await Promise.all(pending)
}

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1')
  await once(socket, 'connect')
  return socket
}

/** @returns the response @throws Error for an unexpected status, and when the connection closes */
function sendAndReceive(socket: Socket, request: string, status: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let response = ''
    const settle = (error?: Error) => {
      socket.removeAllListeners('data').removeAllListeners('close')
      if (error === undefined) resolve(response)
      else reject(error)
    }
    socket.on('close', () => settle(new Error(`The connection was closed after: ${response}`)))
    socket.on('data', (text: string) => {
      response += text
      if (isComplete(response))
        settle(response.startsWith(`HTTP/1.1 ${status} `) ? undefined : new Error(`Unexpected response: ${response}`))
    })
    socket.write(request)
  })
}

function isComplete(response: string): boolean {
  const bodyAt = response.indexOf(headEnd) + headEnd.length
  if (bodyAt < headEnd.length) return false
  const length = /content-length: (\d+)/i.exec(response)?.[1]
  // The identity backend responds in chunks, the last of which is empty.
  return length === undefined ? response.endsWith(`0${headEnd}`) : response.length >= bodyAt + Number(length)
}
