// Shared by the fake servers: listening, signed notifications, rate limits, faults, and a ledger of charges.
import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'

/** Listens on a free local port until the test ends. @returns the origin, `http://127.0.0.1:<port>` */
export async function listen(t: Pick<Test, 'teardown'>, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a TCP server has no port')
  return `http://127.0.0.1:${address.port}`
}

/** The value at a path in any JSON; `undefined` when a step is missing. */
export function valueAt(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value
  for (const step of path) {
    if (typeof found !== 'object' || found === null) return undefined
    found = Object.hasOwn(found, step) ? Reflect.get(found, step) : undefined
  }
  return found
}

export type SignedEvent = { readonly headers: Readonly<Record<string, string>>; readonly body: string }

/** Posts events in the given order, each signed when it is sent. @returns the response statuses */
export async function deliverEvents<Event>(
  url: string,
  events: readonly Event[],
  sign: (event: Event) => SignedEvent,
): Promise<number[]> {
  const statuses: number[] = []
  for (const event of events) {
    const { headers, body } = sign(event)
    const response = await fetch(url, { method: 'POST', headers, body })
    await response.arrayBuffer()
    statuses.push(response.status)
  }
  return statuses
}

// The rate limit of a fake provider.

export type FakeRateLimit = {
  /** @param limit `null` for none; `retryAfter`: the header of the 429 responses */
  set(limit: { readonly perSecond: number; readonly retryAfter?: string } | null): void
  /** Counts a call. @returns the headers of its 429 when it exceeds the limit */
  take(): Readonly<Record<string, string>> | undefined
  /** The number of throttled calls. */
  rejected(): number
}

export function createFakeRateLimit(): FakeRateLimit {
  let limit: Parameters<FakeRateLimit['set']>[0] = null
  let recent: number[] = []
  let rejected = 0
  return {
    set(next) {
      limit = next
    },
    take() {
      if (limit === null) return undefined
      const now = performance.now()
      recent = recent.filter((at) => now - at < 1_000)
      if (recent.length < limit.perSecond) {
        recent.push(now)
        return undefined
      }
      rejected++
      return limit.retryAfter === undefined ? {} : { 'retry-after': limit.retryAfter }
    },
    rejected: () => rejected,
  }
}

/** A fault that a call gets. `commits`: whether the call is executed before the fault. */
export type Fault =
  /** The connection is reset. */
  | { readonly kind: 'drop'; readonly commits: boolean }
  /** No response. */
  | { readonly kind: 'hang'; readonly commits: boolean }
  /** A response with this status, an HTML body, and an optional `Retry-After`. */
  | { readonly kind: 'status'; readonly status: number; readonly commits: boolean; readonly retryAfter?: string }
  /** A success with an unreadable body. */
  | { readonly kind: 'garbage'; readonly commits: boolean }
  /** The normal response, late. */
  | { readonly kind: 'slow'; readonly ms: number }

export type FaultPlan = {
  /** Faults for the next calls, one each; `undefined` lets a call through. */
  next(...faults: readonly (Fault | undefined)[]): void
  /** A fault for all calls without a planned fault; `undefined` ends it. */
  always(fault: Fault | undefined): void
  /**
   * Handles a call with its fault, if any.
   * @param act executes the call
   * @param respond writes the result
   */
  play<Result>(response: ServerResponse, act: () => Result, respond: (result: Result) => void): Promise<void>
}

export function createFaultPlan(): FaultPlan {
  const queue: (Fault | undefined)[] = []
  let permanent: Fault | undefined
  return {
    next: (...faults) => void queue.push(...faults),
    always(fault) {
      permanent = fault
    },
    async play(response, act, respond) {
      const fault = queue.length > 0 ? queue.shift() : permanent
      if (fault === undefined) return respond(act())
      if (fault.kind === 'slow') {
        await sleep(fault.ms)
        return respond(act())
      }
      if (fault.commits) act()
      respondWithFault(fault, response)
    },
  }
}

function respondWithFault(fault: Exclude<Fault, { kind: 'slow' }>, response: ServerResponse): void {
  switch (fault.kind) {
    case 'drop':
      return void response.socket?.resetAndDestroy()
    case 'hang':
      return
    case 'status':
      if (fault.retryAfter !== undefined) response.setHeader('retry-after', fault.retryAfter)
      return void response.writeHead(fault.status, { 'content-type': 'text/html' }).end('<h1>Out of order</h1>')
    case 'garbage':
      return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"half":')
  }
}

export type LedgerCharge = {
  readonly charge_id: string
  readonly intent_id: string
  /** Our payment id in the intent. */
  readonly payment_id: string | null
  readonly amount_cents: number
  readonly currency: string
}

export type ChargeLedger = { readonly charges: readonly LedgerCharge[]; add(charge: LedgerCharge): void }

/**
 * Records the successful charges of a provider. Fails the test at its end if a payment was charged twice.
 * @param options `allowDouble`: for a test that charges twice on purpose
 */
export function createChargeLedger(
  t: Pick<Test, 'teardown'>,
  { allowDouble = false }: { readonly allowDouble?: boolean } = {},
): ChargeLedger {
  const charges: LedgerCharge[] = []
  t.teardown(() => {
    const perPayment = Map.groupBy(charges, ({ payment_id }) => payment_id)
    const doubled = [...perPayment].filter(([payment_id, all]) => payment_id !== null && all.length > 1)
    if (doubled.length > 0 && !allowDouble) throw new Error(`Charged more than once: ${JSON.stringify(doubled)}`)
  })
  return { charges, add: (charge) => void charges.push(charge) }
}
