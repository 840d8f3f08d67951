// An HTTP server that a test listens with, and that goes away with the test.
import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'

/** Listens on a free port of this machine. @returns the origin, `http://127.0.0.1:<port>` */
export async function listen(t: Test, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the port of a TCP server is not known')
  return `http://127.0.0.1:${address.port}`
}

// Reading JSON that may be anything.

/** What stands at a path, or nothing. */
export function valueAt(value: unknown, ...path: readonly (string | number)[]): unknown {
  let found = value
  for (const step of path) {
    if (typeof found !== 'object' || found === null) return undefined
    found = Object.hasOwn(found, step) ? Reflect.get(found, step) : undefined
  }
  return found
}

// Notifications as providers send them: signed, one after the other, and as often as they like.

export type SignedEvent = { readonly headers: Readonly<Record<string, string>>; readonly body: string }

/**
 * Posts events in the order given, all of them `times` times over, each signed when it is sent.
 * @returns the statuses of the answers
 */
export async function deliverEvents<Event>(
  url: string,
  {
    events,
    sign,
    times = 1,
  }: {
    readonly events: readonly Event[]
    readonly sign: (event: Event) => SignedEvent
    readonly times?: number | undefined
  },
): Promise<number[]> {
  const statuses: number[] = []
  for (let round = 0; round < times; round++) {
    for (const event of events) {
      const { headers, body } = sign(event)
      const response = await fetch(url, { method: 'POST', headers, body })
      await response.arrayBuffer()
      statuses.push(response.status)
    }
  }
  return statuses
}

// How many calls a second a fake provider takes.

export type FakeRateLimit = {
  /** @param limit without one, all calls are taken; `retryAfter` is the header that comes with a 429, if any does */
  set(limit: { readonly perSecond: number; readonly retryAfter?: string } | null): void
  /** Counts a call. @returns the headers of its 429 when it is one too many, else nothing */
  take(): Readonly<Record<string, string>> | undefined
  /** How many calls were turned away. */
  rejected(): number
}

export function createFakeRateLimit(): FakeRateLimit {
  let limit: Parameters<FakeRateLimit['set']>[0] = null
  let taken: number[] = []
  let rejected = 0
  return {
    set(next) {
      limit = next
    },
    take() {
      if (limit === null) return undefined
      const now = performance.now()
      taken = taken.filter((at) => now - at < 1_000)
      if (taken.length < limit.perSecond) {
        taken.push(now)
        return undefined
      }
      rejected++
      return limit.retryAfter === undefined ? {} : { 'retry-after': limit.retryAfter }
    },
    rejected: () => rejected,
  }
}

// What the fakes of the payment providers have in common: faults on order, and a ledger of what was charged.

/** What a call meets instead of an answer. `commits` says whether the provider has done it before the fault shows. */
export type Fault =
  /** The connection is reset. */
  | { readonly kind: 'drop'; readonly commits: boolean }
  /** No answer ever comes. */
  | { readonly kind: 'hang'; readonly commits: boolean }
  /** The answer is this status, with a body that nobody can read, and with a `Retry-After` if there is one. */
  | { readonly kind: 'status'; readonly status: number; readonly commits: boolean; readonly retryAfter?: string }
  /** A success whose body cannot be read. */
  | { readonly kind: 'garbage'; readonly commits: boolean }
  /** The usual answer, late. */
  | { readonly kind: 'slow'; readonly ms: number }

export type FaultPlan = {
  /** The next calls that change something meet these, one each; `undefined` lets a call through. */
  next(...faults: readonly (Fault | undefined)[]): void
  /** Every call that changes something meets this, until it is called with nothing. */
  always(fault: Fault | undefined): void
  /**
   * Plays a call: does it, unless the fault comes first, and answers.
   * @param act does the call and returns what to answer
   * @param answer writes it
   */
  play<Result>(response: ServerResponse, act: () => Result, answer: (result: Result) => void): Promise<void>
}

export function createFaultPlan(): FaultPlan {
  const queue: (Fault | undefined)[] = []
  let standing: Fault | undefined
  return {
    next: (...faults) => void queue.push(...faults),
    always(fault) {
      standing = fault
    },
    async play(response, act, answer) {
      const fault = queue.length > 0 ? queue.shift() : standing
      if (fault === undefined) return answer(act())
      if (fault.kind === 'slow') {
        await sleep(fault.ms)
        return answer(act())
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
  /** The payment of ours that the intent names. */
  readonly payment_id: string | null
  readonly amount_cents: number
  readonly currency: string
}

export type ChargeLedger = { readonly charges: readonly LedgerCharge[]; add(charge: LedgerCharge): void }

/**
 * The successful charges of one provider. When the test is over it fails if a payment was charged twice.
 * @param options `allowDouble` for a test that charges twice on purpose
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
