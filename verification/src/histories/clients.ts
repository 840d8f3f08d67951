// The people and programs outside: clients that repeat requests, payers, and a provider that sends notifications until they are
// accepted. Remembers what they were told, for the judge.
import { setTimeout as sleep } from 'node:timers/promises'
import { receiveNotification } from '@paylog/commands/notifications/notifications'
import { initiatePayment, replayPayment } from '@paylog/commands/payments/initiatePayment'
import { cancelPayment, capturePayment } from '@paylog/commands/payments/intentCalls'
import { refundPayment } from '@paylog/commands/payments/refundPayment'
import { DomainError } from '@paylog/domain/errors'
import { paymentFold } from '@paylog/domain/payments/fold'
import { priceOf } from '@paylog/domain/payments/initiate'
import { newStream } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import { paymentFields } from '@paylog/testing/paymentFields'
import type { Books } from './books.ts'
import type { ProviderName } from './providers/providers.ts'
import { inProcess } from './scheduler.ts'
import type { Api } from './service.ts'
import { world } from './simulatedBuiltins.ts'

export type Operation =
  | { readonly kind: 'create'; readonly key: string | null; readonly expiresMs: number | null }
  | { readonly kind: 'cancel' | 'refresh' }
  | { readonly kind: 'capture'; readonly amount_cents: number | undefined }
  | {
      readonly kind: 'refund'
      readonly refund_id: string
      readonly amount_cents: number | undefined
      readonly hasKey: boolean
    }

export type Target = {
  readonly payment_id: string
  readonly provider: ProviderName
  readonly amount_cents: number
  readonly isManual: boolean
}

/** What an operation was told: an error code, `no response`, or `ok` with the payment's state. */
export type Answer = { readonly code: string; readonly intent?: string | null; readonly refund_status?: string }

export type Asked = {
  readonly operation: Operation
  readonly target: Target
  readonly answers: Answer[]
  isOver: boolean
}

/** After these the client asks again: nobody can know yet, or nothing was done. */
const repeatable: ReadonlySet<string> = new Set([
  'no response',
  'event_store_unavailable',
  'concurrent_modification',
  'idempotency_key_in_flight',
  'provider_unavailable',
  'provider_outcome_unknown',
])
/** More than the time after which a key is free again. */
const maxAttempts = 12
const firstPauseMs = 1_000
const maxPauseMs = 60_000

export const describe = (operation: Operation): string => {
  if (operation.kind === 'create') return operation.key ? `create with key ${operation.key}` : 'create without a key'
  if (operation.kind === 'capture') return `capture of ${operation.amount_cents ?? 'everything'}`
  if (operation.kind !== 'refund') return operation.kind
  return `refund ${operation.refund_id.slice(-2)} of ${operation.amount_cents ?? 'everything'}`
}

/** Without an Idempotency-Key the same request again would be another one. */
export const isRepeatable = (operation: Operation): boolean =>
  operation.kind === 'create' ? operation.key !== null : operation.kind !== 'refund' || operation.hasKey

/** @param apiFor chooses the instance that gets a request */
export function createClients(apiFor: () => Api) {
  const asked: Asked[] = []
  const accepted: string[] = []

  /** Sends one request to an instance. The connection breaks when the instance dies. */
  function send<Result>(what: string, act: (api: Api) => Promise<Result>): Promise<Result> {
    const api = apiFor()
    const { process } = api
    return new Promise((resolve, reject) => {
      const broken = () => reject(new DomainError('service_unavailable', 'no response'))
      process.onDeath.push(broken)
      const run = () => {
        if (!process.isAlive) return broken()
        world().tell(`${process.name} gets: ${what}`)
        void inProcess(process, () => act(api)).then(
          (result) => world().send(`${process.name} answers: ${what}`, process, () => resolve(result)),
          (error: unknown) => world().send(`${process.name} answers: ${what}`, process, () => reject(error)),
        )
      }
      world().send(`request: ${what}`, undefined, run)
    })
  }

  /** Asks until the answer is final. @param onAnswer called after each answer */
  async function ask(operation: Operation, target: Target, onAnswer = () => {}): Promise<void> {
    const record: Asked = { operation, target, answers: [], isOver: false }
    asked.push(record)
    const mayRepeat = isRepeatable(operation)
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const answer = await send(describe(operation), (api) => perform(api, operation, target)).catch(codeOf)
      record.answers.push(answer)
      world().tell(`answer to ${describe(operation)}: ${answer.code}`)
      onAnswer()
      if (!repeatable.has(answer.code) || !mayRepeat) break
      await sleep(Math.min(firstPauseMs * 2 ** attempt, maxPauseMs))
    }
    record.isOver = true
  }

  return {
    asked: asked as readonly Asked[],
    /** The ids of notifications that were accepted, in the order in which they were; some of them more than once. */
    accepted: accepted as readonly string[],
    ask,
    /** Sends one notification once. @returns whether it was accepted */
    async notify(provider: ProviderName, { what, sign }: Books['notifications'][number]): Promise<boolean> {
      const accept = async ({ workflow }: Api) => {
        const adapter = workflow.providers.get(provider)
        if (adapter === undefined) throw new Error('no provider')
        const { body, headers } = sign()
        const received = { provider: adapter, body: Buffer.from(body), headers, requestId: 'notification' }
        return (await receiveNotification(workflow, received)).provider_event_id
      }
      const id = await send(`notification ${what}`, accept).catch((error: unknown) => void codeOf(error))
      if (id !== undefined) accepted.push(id)
      return id !== undefined
    },
  }
}

/** Everything but our own errors is a 500. */
function codeOf(error: unknown): Answer {
  if (!(error instanceof DomainError)) return { code: `internal error: ${error}` }
  return { code: error.code === 'service_unavailable' ? 'no response' : error.code }
}

const metadata = { correlationId: 'request', causationId: 'request', actor: 'anonymous' }

async function perform(api: Api, operation: Operation, target: Target): Promise<Answer> {
  const { workflow } = api
  const { payment_id, provider, amount_cents, isManual } = target
  switch (operation.kind) {
    case 'create': {
      const { key, expiresMs } = operation
      const occurred_at = workflow.now().toISOString()
      const command = {
        ...paymentFields,
        payment_id,
        provider_id: provider,
        request_fingerprint: key,
        occurred_at,
        ...priceOf({ total_cents: amount_cents, currency: 'USD' }),
        payer: { id: null, type: 'guest', email: null },
        ...(isManual && { capture_method: 'manual' as const }),
        ...(expiresMs !== null && { expires_at: new Date(Date.now() + expiresMs).toISOString() }),
      }
      const stream = paymentStream(payment_id)
      const assumed = key === null ? newStream(paymentFold) : await workflow.store.load(stream, paymentFold)
      const { payment, error } = await (assumed.state.status === 'none'
        ? initiatePayment(workflow, command, { metadata, assumed })
        : replayPayment(workflow, command, { metadata, assumed }))
      if (error) throw error
      return { code: 'ok', intent: payment.provider_intent_id }
    }
    case 'cancel':
      await cancelPayment(workflow, { payment_id, metadata, reason: null })
      return { code: 'ok' }
    case 'capture':
      await capturePayment(workflow, { payment_id, metadata, amount_cents: operation.amount_cents })
      return { code: 'ok' }
    case 'refresh':
      await api.refresh(payment_id, metadata)
      return { code: 'ok' }
    case 'refund': {
      const { refund_id, hasKey, amount_cents: cents } = operation
      const about = {
        refund_id,
        request_fingerprint: hasKey ? refund_id : null,
        amount_cents: cents,
        refund_limit_cents: null,
      }
      const request = { payment_id, metadata, ...about, reason: 'other', note: null } as const
      const { refund } = await refundPayment(workflow, request)
      return { code: 'ok', refund_status: refund.status }
    }
  }
}
