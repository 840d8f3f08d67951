// Stands between the system and a fake provider, and makes the calls that change something unreliable: requests and responses
// get lost, and responses arrive after the notifications.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { listen } from '@paylog/testing/fakeServer'
import type { Random } from '../random.ts'
import { blackoutMs, callFault, lateMs } from './settings.ts'

export type Call = { readonly method: string; readonly url: string; readonly body: string }

/** @param options `isWrite`: whether a call changes something @returns its origin, and the number of faults by kind */
export async function startProviderProxy(
  stack: AsyncDisposableStack,
  options: { readonly origin: string; readonly random: Random; readonly isWrite: (call: Call) => boolean },
) {
  const { random, isWrite } = options
  const faults = { lostRequest: 0, lostResponse: 0, blackout: 0, late: 0 }
  /** By the content of a call, which a repeated one has too: until when every response is lost. */
  const blackouts = new Map<string, number>()
  let isFaulty = true

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    const { method = 'GET', url = '/', headers } = request
    const place = `${url} ${body}`
    const isDark = (blackouts.get(place) ?? 0) > performance.now()
    const chosen = isDark ? 'lostResponse' : random.weighted(callFault)
    const fault = isFaulty && isWrite({ method, url, body }) ? chosen : 'none'
    if (fault !== 'none') faults[fault]++
    if (fault === 'lostRequest') return void response.socket?.resetAndDestroy()
    const forwarded = await fetch(`${options.origin}${url}`, {
      method,
      headers: forwardedHeaders(headers),
      ...(method !== 'GET' && { body }),
    })
    const result = await forwarded.text()
    if (fault === 'blackout') blackouts.set(place, performance.now() + blackoutMs)
    if (fault === 'blackout' || fault === 'lostResponse') return void response.socket?.resetAndDestroy()
    if (fault === 'late') await pause(random.between(...lateMs))
    const kept = [...forwarded.headers].filter(([name]) => !hopHeaders.has(name))
    response.writeHead(forwarded.status, Object.fromEntries(kept)).end(result)
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  const origin = await listen({ teardown: (stop: () => unknown) => void stack.defer(async () => void stop()) }, server)
  return {
    origin,
    faults,
    setFaulty(faulty: boolean) {
      isFaulty = faulty
    },
  }
}

const hopHeaders = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'content-encoding',
  'host',
])

function forwardedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' && !hopHeaders.has(name) ? [[name, value]] : [],
    ),
  )
}
