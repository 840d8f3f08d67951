// Rejects test payloads that contain the id of a recorded payment.
import { DomainError } from '@paylog/domain/errors'
import { providerNames } from '@paylog/domain/providerEvents'
import type { EventStore } from '@paylog/event-store/eventStore'
import { paymentStream, providerIntentStream, type StreamName } from '@paylog/event-store/streamName'

/** Far more than the largest provider object contains. */
const maxLookUps = 2_000
const concurrentLookUps = 50

/** All forms in which databases accept a UUID: any case, with or without dashes, within other text. */
const uuids = /(?<![0-9a-f])(?:[0-9a-f]{4}-?){7}[0-9a-f]{4}(?![0-9a-f])/gi
/** Version 5: derived from an Idempotency-Key, so a caller can compute the id before the payment exists. */
const derivedUuid = /^.{14}5.{4}[89ab]/
const madeUpPrefix = /test_(?:[a-z]+_)?$/
const tokens = /[A-Za-z0-9_-]{3,200}/g
const digits = /^[0-9]+$/
/** Only Authorize.Net has numeric ids. Shorter numbers are amounts. */
const minDigits = 5
/** Only long provider ids may have no digit. */
const minLengthWithoutDigit = 12

/**
 * Rejects a payload with the id of any recorded payment: our id, or that of its intent, order or invoice at a provider,
 * anywhere in the text. Ids of charges, captures and transactions are not checked.
 * @throws DomainError `recorded_payment_id`, with the same message for every payment; `invalid_request` for too many ids;
 *   `event_store_unavailable`
 */
export async function rejectRecordedPayments(
  store: Pick<EventStore, 'readStream'>,
  sent: Readonly<Record<string, unknown>>,
): Promise<void> {
  const texts = [...textsIn(sent)]
  const ids = texts.flatMap((text) => [...text.matchAll(uuids)].map(uuidIn))
  if (ids.some(({ id, isMadeUp }) => !isMadeUp && derivedUuid.test(id))) throw recordedPaymentError()
  const streams = [...new Set([...ids.map(({ id }) => paymentStream(id)), ...texts.flatMap(pointers)])]
  if (streams.length > maxLookUps) throw new DomainError('invalid_request', 'The body contains too many different ids')
  for (let from = 0; from < streams.length; from += concurrentLookUps) {
    const exist = async (stream: StreamName) => (await store.readStream(stream, { limit: 1 })).length > 0
    const found = await Promise.all(streams.slice(from, from + concurrentLookUps).map(exist))
    if (found.includes(true)) throw recordedPaymentError()
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

/** The streams that map a provider's id to its payment. Ids also occur in URLs, and Stripe's in client secrets. */
function pointers(text: string): StreamName[] {
  return (text.replaceAll('_secret_', ' ').match(tokens) ?? []).flatMap((token) => {
    if (digits.test(token)) return token.length < minDigits ? [] : [providerIntentStream('authorize-net', token)]
    if (!/\d/.test(token) && token.length < minLengthWithoutDigit) return []
    return providerNames.map((provider) => providerIntentStream(provider, token))
  })
}
