// Finds the ids of recorded payments in what somebody wants an endpoint to be sent.
import { DomainError } from '@paylog/domain/errors'
import { providerNames } from '@paylog/domain/providerEvents'
import type { EventStore } from '@paylog/event-store/eventStore'
import { paymentStream, providerIntentStream, type StreamName } from '@paylog/event-store/streamName'

/** Many times what the largest object of a provider needs. */
const maxLookUps = 2_000
const lookUpsAtOnce = 50

/** In whatever way a database reads a UUID: in any case, with or without dashes, and with text around it. */
const uuids = /(?<![0-9a-f])(?:[0-9a-f]{4}-?){7}[0-9a-f]{4}(?![0-9a-f])/gi
/** Version 5: derived from an Idempotency-Key, so that a caller can know the id of a payment before the payment exists. */
const derivedUuid = /^.{14}5.{4}[89ab]/
const madeUpPrefix = /test_(?:[a-z]+_)?$/
const tokens = /[A-Za-z0-9_-]{3,200}/g
const digits = /^[0-9]+$/
/** Only Authorize.Net has ids of digits alone. Shorter numbers are amounts. */
const leastDigits = 5
/** Some providers' ids can be without a digit, but only long ones. */
const longToken = 12

/**
 * Refuses a message that would speak of a recorded payment, whoever it belongs to: by our id, or by the id of its intent,
 * order or invoice at a provider, anywhere in the text. Ids of charges, captures and transactions are not known here.
 * @throws DomainError `recorded_payment_id`, in the same words for every payment; `invalid_request` for more texts than can
 *   be looked up; `event_store_unavailable`
 */
export async function rejectRecordedPayments(
  store: Pick<EventStore, 'readStream'>,
  sent: Readonly<Record<string, unknown>>,
): Promise<void> {
  const texts = [...textsIn(sent)]
  const ids = texts.flatMap((text) => [...text.matchAll(uuids)].map(uuidIn))
  if (ids.some(({ id, isMadeUp }) => !isMadeUp && derivedUuid.test(id))) throw recordedPaymentError()
  const streams = [...new Set([...ids.map(({ id }) => paymentStream(id)), ...texts.flatMap(pointers)])]
  if (streams.length > maxLookUps) throw new DomainError('invalid_request', 'The body holds too many different ids')
  for (let from = 0; from < streams.length; from += lookUpsAtOnce) {
    const exist = async (stream: StreamName) => (await store.readStream(stream, { limit: 1 })).length > 0
    const found = await Promise.all(streams.slice(from, from + lookUpsAtOnce).map(exist))
    if (found.includes(true)) throw recordedPaymentError()
  }
}

const recordedPaymentError = () =>
  new DomainError(
    'recorded_payment_id',
    'A test must not carry the id of a payment; leave it out, or use one that begins with test_',
  )

/** Every text, number and key. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'number') yield String(value)
  else if (typeof value === 'object' && value !== null)
    for (const [key, entry] of Object.entries(value)) {
      // Most keys are words.
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

/** The streams that point from a provider's id to its payment. Ids also stand in links, and Stripe's in client secrets. */
function pointers(text: string): StreamName[] {
  return (text.replaceAll('_secret_', ' ').match(tokens) ?? []).flatMap((token) => {
    if (digits.test(token)) return token.length < leastDigits ? [] : [providerIntentStream('authorize-net', token)]
    if (!/\d/.test(token) && token.length < longToken) return []
    return providerNames.map((provider) => providerIntentStream(provider, token))
  })
}
