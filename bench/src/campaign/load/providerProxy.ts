// Stands between the system and the fake Stripe, and makes creating an intent unreliable: requests and responses get lost,
// and responses arrive after the intent's notifications.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { listen } from '@paylog/testing/fakeServer'
import type { Random } from '../random.ts'

/** Longer than a provider call may take, so that the outcome stays unknown to the caller. */
const blackoutMs = 14_000
const create = '/v1/payment_intents'

export type StripeFaults = { lostRequests: number; lostResponses: number; blackouts: number; lateResponses: number }

/**
 * @param options `onCreated` gets each new intent before the system does; `isEarly`: the response is held back
 * @returns its origin
 */
export async function startStripeProxy(
  stack: AsyncDisposableStack,
  options: {
    readonly origin: string
    readonly random: Random
    readonly onCreated: (intentId: string, isEarly: boolean) => void
  },
): Promise<{ readonly origin: string; readonly faults: Readonly<StripeFaults>; setFaulty(faulty: boolean): void }> {
  const { random } = options
  const faults: StripeFaults = { lostRequests: 0, lostResponses: 0, blackouts: 0, lateResponses: 0 }
  /** By idempotency key: until when every response is lost. */
  const blackouts = new Map<string, number>()
  let isFaulty = true

  function faultOf(key: string): 'none' | 'lostRequest' | 'lostResponse' | 'blackout' | 'late' {
    if (!isFaulty) return 'none'
    if ((blackouts.get(key) ?? 0) > performance.now()) return 'lostResponse'
    return random.weighted({ none: 66, lostRequest: 4, lostResponse: 10, blackout: 4, late: 16 })
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    const { method = 'GET', url = '/', headers } = request
    const isCreate = method === 'POST' && url === create
    const key = String(headers['idempotency-key'])
    const fault = isCreate ? faultOf(key) : 'none'
    if (fault === 'lostRequest') {
      faults.lostRequests++
      return void response.socket?.resetAndDestroy()
    }
    const forwarded = await fetch(`${options.origin}${url}`, {
      method,
      headers: forwardedHeaders(headers),
      ...(method === 'GET' ? {} : { body }),
    })
    const result = await forwarded.text()
    const isNew = isCreate && forwarded.ok && forwarded.headers.get('idempotent-replayed') === null
    if (isNew) options.onCreated(JSON.parse(result).id, fault === 'late')
    if (fault === 'blackout') {
      faults.blackouts++
      blackouts.set(key, performance.now() + blackoutMs)
    }
    if (fault === 'blackout' || fault === 'lostResponse') {
      faults.lostResponses++
      return void response.socket?.resetAndDestroy()
    }
    if (fault === 'late') {
      faults.lateResponses++
      await pause(random.between(200, 2_000))
    }
    const kept = [...forwarded.headers].filter(
      ([name]) => !/^(connection|keep-alive|transfer-encoding|content-length)$/.test(name),
    )
    response.writeHead(forwarded.status, Object.fromEntries(kept)).end(result)
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  const origin = await listen({ teardown: (stop: () => unknown) => void stack.defer(async () => void stop()) }, server)
  return {
    origin,
    faults,
    setFaulty(faulty) {
      isFaulty = faulty
    },
  }
}

function forwardedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const names = ['authorization', 'content-type', 'idempotency-key', 'stripe-version'] as const
  return Object.fromEntries(names.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : [])))
}
