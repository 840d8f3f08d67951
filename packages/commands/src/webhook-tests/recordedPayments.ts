// Rejects test payloads that contain the id of a recorded payment.
import { DomainError } from '@paylog/domain/errors'
import { paymentStream } from '@paylog/event-store/streamName'
import { paymentIdEndingIn } from '@paylog/providers/findableId'
import { type Provider, ProviderError } from '@paylog/providers/provider'
import type { Workflow } from '../context.ts'
import { toDomainError } from '../provider-calls/providerErrors.ts'

/** Far more than the largest provider object contains. */
const maxIds = 1_000
/** A provider is asked about each of them, and an object has one intent. */
const maxIntents = 10
const concurrentLookUps = 50

/** All forms in which databases accept a UUID: any case, with or without dashes, within other text. */
const uuids = /(?<![0-9a-f])(?:[0-9a-f]{4}-?){7}[0-9a-f]{4}(?![0-9a-f])/gi
/** Version 5: derived from an Idempotency-Key, so a caller can compute the id before the payment exists. */
const derivedUuid = /^.{14}5.{4}[89ab]/
const madeUpPrefix = /test_(?:[a-z]+_)?$/
/** Text that may contain an id; ids also occur in URLs, and Stripe's in client secrets. */
const tokens = /[A-Za-z0-9_-]{3,200}/g
/** The forms of intent ids that have to be looked up at the provider. */
const intentIds: Readonly<Record<string, RegExp>> = {
  stripe: /^pi_[A-Za-z0-9]{8,}$/,
  paypal: /^[A-Z0-9]{17}$/,
}
/** An invoice number at Authorize.Net. */
const endOfId = /^[0-9a-f]{20}$/

/**
 * Rejects a payload with the id of any recorded payment: our id, or that of its intent, order or invoice at an enabled provider,
 * anywhere in the text. Ids of charges, captures and transactions are not checked.
 * @throws DomainError `recorded_payment_id`, with the same message for every payment; `invalid_request` for too many ids;
 *   `event_store_unavailable`, `provider_unavailable`
 */
export async function rejectRecordedPayments(
  { store, providers }: Workflow,
  sent: Readonly<Record<string, unknown>>,
): Promise<void> {
  const texts = [...textsIn(sent)]
  const uuidsSent = texts.flatMap((text) => [...text.matchAll(uuids)].map(uuidIn))
  if (uuidsSent.some(({ id, isMadeUp }) => !isMadeUp && derivedUuid.test(id))) throw recordedPaymentError()
  const words = new Set(texts.flatMap((text) => text.replaceAll('_secret_', ' ').match(tokens) ?? []))
  const ends = [...words].filter((word) => endOfId.test(word)).map(paymentIdEndingIn)
  const asked = [...providers.values()].flatMap((provider) => {
    const form = intentIds[provider.id]
    return form ? [...words].filter((word) => form.test(word)).map((word) => ({ provider, word })) : []
  })
  const ids = new Set([...uuidsSent.map(({ id }) => id), ...ends])
  if (ids.size > maxIds || asked.length > maxIntents)
    throw new DomainError('invalid_request', 'The body contains too many different ids')
  const found = await Promise.all(asked.map(({ provider, word }) => paymentAt(provider, word)))
  for (const id of found) if (id !== null) ids.add(id)
  const exists = async (id: string) => (await store.readStream(paymentStream(id), { limit: 1 })).length > 0
  for (let from = 0; from < ids.size; from += concurrentLookUps) {
    const recorded = await Promise.all([...ids].slice(from, from + concurrentLookUps).map(exists))
    if (recorded.includes(true)) throw recordedPaymentError()
  }
}

async function paymentAt(provider: Provider, provider_intent_id: string): Promise<string | null> {
  try {
    return await provider.findPaymentId({ provider_intent_id, provider_payment_id: null })
  } catch (error) {
    throw error instanceof ProviderError ? toDomainError(error) : error
  }
}

const recordedPaymentError = () =>
  new DomainError(
    'recorded_payment_id',
    'A test must not contain the id of a payment; omit it, or use one that begins with test_',
  )

/** Every string, number, and key with a digit. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'number') yield String(value)
  else if (typeof value === 'object' && value !== null)
    for (const [key, entry] of Object.entries(value)) {
      // Keys without a digit are plain words.
      if (/\d/.test(key)) yield key
      yield* textsIn(entry)
    }
}

function uuidIn({ 0: text, index, input }: RegExpExecArray) {
  const id = text
    .replaceAll('-', '')
    .toLowerCase()
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  return { id, isMadeUp: madeUpPrefix.test(input.slice(0, index)) }
}
