// The clients of a campaign: they create payments through the API, and with an Idempotency-Key repeat the request until they
// get a final answer.
import { setTimeout as pause } from 'node:timers/promises'
import type { Answer, Owner, PaymentRequest } from '../judge/observations.ts'
import type { Random } from '../random.ts'

export type Acknowledged = { readonly id: string; readonly provider_intent_id: string | null }

type CreateResponse = { readonly data?: Acknowledged; readonly error?: { readonly code: string } }

export type Clients = {
  readonly requests: readonly PaymentRequest[]
  /** Starts one payment and returns at once. */
  begin(): void
  busy(): number
}

export const credentials: Readonly<Record<Owner, Readonly<Record<string, string>>>> = {
  'user 1': { 'x-session-id': 'demo-session' },
  'user 2': { 'x-session-id': 'demo-session-2' },
  guest: { authorization: 'Token demo-guest-token' },
}
const guest = { email: 'guest@example.com', name: 'Guest Example' }
const requestTimeoutMs = 20_000
const firstPauseMs = 200
const longestPauseMs = 3_000

/** @param options `onAcknowledged` gets each 201, repetitions included; `over` ends all repetitions */
export function createClients(options: {
  /** Of `command-api`; may be filled later. */
  readonly urls: readonly string[]
  readonly random: Random
  readonly onAcknowledged: (request: PaymentRequest, payment: Acknowledged) => void
  /** Whether clients stop repeating requests that have no final answer. */
  readonly hasToEnd: () => boolean
  readonly over: AbortSignal
}): Clients {
  const { urls, random, over, hasToEnd } = options
  const requests: PaymentRequest[] = []
  let busy = 0

  function newRequest(): PaymentRequest {
    const reference = `order-${requests.length + 1}`
    return {
      reference,
      owner: random.weighted({ 'user 1': 40, 'user 2': 40, guest: 20 }),
      key: random.isIn(0.7) ? `key-${reference}` : null,
      provider: random.weighted({ stripe: 65, sandbox: 35 }),
      amount_cents: random.between(100, 9_999),
      currency: random.pick(['EUR', 'USD']),
      answers: [],
      gave_up: false,
    }
  }

  async function send(request: PaymentRequest): Promise<Answer> {
    // Some clients lose patience, so that their connection ends during the request.
    const timeoutMs = random.isIn(0.05) ? random.between(5, 150) : requestTimeoutMs
    const { reference, owner, key, provider, amount_cents, currency } = request
    const body = {
      total_cents: amount_cents,
      currency,
      provider_id: provider,
      reference_code: reference,
      ...(owner === 'guest' && { guest_data: guest }),
    }
    const response = await fetch(`${urls[random.between(0, urls.length - 1)]}/payments/intents`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...credentials[owner],
        ...(key !== null && { 'idempotency-key': key }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.any([over, AbortSignal.timeout(timeoutMs)]),
    })
    const result = (await response.json()) as CreateResponse
    const payment = response.status === 201 ? result.data : undefined
    if (payment !== undefined) options.onAcknowledged(request, payment)
    return { status: response.status, code: result.error?.code ?? null, payment_id: payment?.id ?? null }
  }

  async function sendUntilFinal(request: PaymentRequest): Promise<void> {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      const answer = await send(request).catch(
        (error: unknown): Answer => ({ status: null, code: lossOf(error), payment_id: null }),
      )
      request.answers.push(answer)
      if (isFinal(answer) || request.key === null) return
      if (hasToEnd()) {
        request.gave_up = true
        return
      }
      await pause(pauseMs * (0.5 + random.next()))
    }
  }

  async function create(request: PaymentRequest): Promise<void> {
    const isTwice = request.key !== null && random.isIn(0.1)
    await Promise.all([sendUntilFinal(request), isTwice ? sendUntilFinal(request) : undefined])
    if (request.key === null || hasToEnd() || !random.isIn(0.15)) return
    await pause(random.between(500, 5_000))
    await sendUntilFinal(request)
  }

  return {
    requests,
    begin() {
      const request = newRequest()
      requests.push(request)
      busy++
      void create(request).finally(() => {
        busy--
      })
    },
    busy: () => busy,
  }
}

/** How a response was lost. */
function lossOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return 'client lost patience'
  const cause = error instanceof Error ? error.cause : undefined
  const isRefused = cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED'
  return isRefused ? 'connection refused' : 'connection lost'
}

/** A client repeats a request that has no response, is still in progress, or met an error of the server. */
function isFinal({ status }: Answer): boolean {
  return status !== null && status < 500 && ![409, 429].includes(status)
}
