// Authorize.Net's notifications: signature, generic types, and parsing.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { DomainError } from '@paylog/domain/errors'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Code, maybe, subscriptionFacts } from '../fields.ts'
import {
  type GenericEventOptions,
  genericName,
  genericSubscription,
  isGenericEvent,
  readGenericEvent,
  statusOfGenericType,
} from '../genericEvent.ts'
import { instantAt } from '../lenient.ts'
import type { ProviderNotification } from '../provider.ts'
import { parseExactJson, parseJson } from '../responses.ts'
import { centsOf, paymentIdOf } from './transactions.ts'

/**
 * The HMAC key is the ASCII text of the 128 hexadecimal digits, in upper case as the merchant interface shows them, not
 * the bytes they encode.
 */
function normalizedKey(key: string): string {
  return /^[0-9a-f]{128}$/i.test(key) ? key.toUpperCase() : key
}

/**
 * Checks an `X-ANET-Signature` header, `sha512=<hex>` of the HMAC-SHA512, against the received bytes. It contains no
 * time, so a notification can be replayed for ever, and its id has to be remembered for ever.
 * @param keys all valid keys; after a rotation the old one stays valid for a day
 * @throws DomainError `invalid_signature`
 */
export function verifySignature(keys: readonly string[], header: string | string[] | undefined, body: Buffer): void {
  const given = readSignature(header)
  const matches = keys.some((key) =>
    timingSafeEqual(createHmac('sha512', normalizedKey(key)).update(body).digest(), given),
  )
  if (!matches) throw new DomainError('invalid_signature', 'The signature does not match the body')
}

/** @throws DomainError `invalid_signature` for a header that is malformed */
export function readSignature(header: string | string[] | undefined): Buffer {
  const [, hex] = typeof header === 'string' ? (/^sha512=([0-9a-f]{128})$/i.exec(header) ?? []) : []
  if (!hex) throw new DomainError('invalid_signature', 'The X-ANET-Signature header is missing or malformed')
  return Buffer.from(hex, 'hex')
}

const paymentPrefix = 'net.authorize.payment.'

export function isAboutTransaction(provider_type: string): boolean {
  return provider_type.startsWith(paymentPrefix) || statusOfGenericType(provider_type) !== null
}

/** The response code shows whether these succeeded. */
const approvalEvents: ReadonlySet<string> = new Set([
  'authcapture.created',
  'capture.created',
  'priorAuthCapture.created',
  'fraud.approved',
])

const paymentEvents: ReadonlyMap<string, string> = new Map([
  ['authorization.created', 'payment_intent.processing'],
  ['fraud.held', 'payment_intent.processing'],
  ['fraud.declined', 'payment_intent.failed'],
  ['void.created', 'payment_intent.canceled'],
])

const otherEvents: ReadonlyMap<string, string> = new Map([
  ['net.authorize.customer.created', 'customer.created'],
  ['net.authorize.customer.updated', 'customer.updated'],
  ['net.authorize.customer.deleted', 'customer.deleted'],
  ['net.authorize.customer.paymentProfile.created', 'payment_method.attached'],
  ['net.authorize.customer.paymentProfile.updated', 'payment_method.updated'],
  ['net.authorize.customer.paymentProfile.deleted', 'payment_method.detached'],
  ['net.authorize.customer.subscription.created', 'subscription.created'],
  ['net.authorize.customer.subscription.updated', 'subscription.updated'],
  ['net.authorize.customer.subscription.suspended', 'subscription.updated'],
  ['net.authorize.customer.subscription.cancelled', 'subscription.deleted'],
  ['net.authorize.customer.subscription.terminated', 'subscription.deleted'],
  ['net.authorize.customer.subscription.expired', 'subscription.deleted'],
  ['net.authorize.customer.subscription.expiring', 'subscription.trial_will_end'],
  ['net.authorize.customer.subscription.failed', 'invoice.payment_failed'],
])

/** The generic types by the gateway's own types, of approved transactions. */
export const genericTypes: readonly (readonly [string, string])[] = [
  [`${paymentPrefix}authcapture.created`, 'payment_intent.succeeded'],
  // Of a transaction with a subscription.
  [`${paymentPrefix}authcapture.created`, 'invoice.payment_succeeded'],
  ...[...paymentEvents].map(([name, generic]) => [`${paymentPrefix}${name}`, generic] as const),
  ...otherEvents,
]

/** Whether the payload is read too, not only the envelope. */
function isKnownType(provider_type: string): boolean {
  return isAboutTransaction(provider_type) || genericTypeOf(provider_type, null) !== null
}

/**
 * The generic type of interface section 6.1.
 * @param responseCode of a transaction: 1 approved, 2 declined, 3 error, 4 held for review
 * @returns `null` for events that only raw receivers get
 */
export function genericTypeOf(provider_type: string, responseCode: string | null): string | null {
  if (!provider_type.startsWith(paymentPrefix)) return otherEvents.get(provider_type) ?? genericName(provider_type)
  const name = provider_type.slice(paymentPrefix.length)
  // A declined refund must not mark the refunded payment as failed.
  if (name === 'refund.created') return null
  if (responseCode === '2' || responseCode === '3') return 'payment_intent.failed'
  if (approvalEvents.has(name)) return approvedType(responseCode)
  return paymentEvents.get(name) ?? null
}

function approvedType(responseCode: string | null): string | null {
  if (responseCode === '1') return 'payment_intent.succeeded'
  return responseCode === '4' ? 'payment_intent.processing' : null
}

const Envelope = Type.Object({
  notificationId: Code,
  eventType: Code,
  eventDate: Type.String({
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,9})?(Z|[+-]\\d\\d:\\d\\d)?$',
  }),
  payload: Type.Optional(Type.Unknown()),
})
const envelope = Compile(Envelope)

/** Numbers are text, see `parseExactJson`. */
const Payload = Type.Object({
  id: maybe(Code),
  responseCode: maybe(Code),
  authAmount: maybe(Code),
  amount: maybe(Code),
  status: maybe(Code),
  customerProfileId: maybe(Code),
  profile: maybe(Type.Object({ customerProfileId: maybe(Code) })),
  subscription: maybe(Type.Object({ id: maybe(Code), payNum: maybe(Code) })),
})
type Payload = Static<typeof Payload>
const payloadSchema = Compile(Payload)

/** The charge id does not follow from the intent id. */
const genericEventOptions: GenericEventOptions = {
  chargeOf: () => null,
  failure: { failure_code: 'declined', failure_message: 'The payment failed at Authorize.Net' },
}

/**
 * Reads a notification in the gateway's or the generic shape.
 * @param body the bytes as received
 * @throws DomainError `invalid_request`
 */
export function readNotification(body: Buffer): ProviderNotification {
  const text = decode(body)
  const json = parseJson(text)
  if (!isGenericEvent(json)) return notificationOf(parse(text))
  const { referenced_payment_id, ...event } = readGenericEvent(json, genericEventOptions)
  return {
    ...event,
    referenced_payment_id: referenced_payment_id ?? paymentIdOf(event.report?.provider_intent_id),
  }
}

/**
 * Reads a notification in the gateway's shape and ignores invalid fields of the payload.
 * @throws DomainError `invalid_request` for an invalid envelope
 */
export function readNotificationLeniently(body: Buffer): ProviderNotification {
  const parsed = parseExactJson(decode(body))
  if (!envelope.Check(parsed)) throw invalidShape(envelope.Errors(parsed))
  // All fields of the schema are optional, so each can be checked alone.
  const valid = Object.entries(parsed.payload ?? {}).filter(([key, value]) => payloadSchema.Check({ [key]: value }))
  const payload: unknown = Object.fromEntries(valid)
  return notificationOf({ ...parsed, payload: payloadSchema.Check(payload) ? payload : {} })
}

function notificationOf({ notificationId, eventType, eventDate, payload }: Parsed): ProviderNotification {
  const subscription = subscriptionOf(eventType, payload)
  const generic_type = genericTypeOf(eventType, payload.responseCode ?? null)
  return {
    provider_event_id: notificationId,
    provider_type: eventType,
    // A payment of a subscription's invoice is reported as an invoice event only.
    generic_type:
      generic_type === 'payment_intent.succeeded' && subscription ? 'invoice.payment_succeeded' : generic_type,
    occurred_at: timeOf(eventDate),
    object_id: payload.id ?? null,
    amount_cents: centsOf(payload.authAmount ?? payload.amount ?? ''),
    currency: null,
    status: statusOf(eventType, payload),
    customer_id: customerOf(eventType, payload),
    customer_email: null,
    referenced_payment_id: null,
    // The notification has no invoice number; `completeNotification` adds the report.
    report: null,
    subscription,
  }
}

type Parsed = Static<typeof Envelope> & { readonly payload: Payload }

function parse(text: string): Parsed {
  const parsed = parseExactJson(text)
  if (!envelope.Check(parsed)) throw invalidShape(envelope.Errors(parsed))
  const { payload } = parsed
  if (payloadSchema.Check(payload)) return { ...parsed, payload }
  if (isKnownType(parsed.eventType)) throw invalidShape(payloadSchema.Errors(payload))
  // Events of unknown types may have any payload; they are recorded without it.
  return { ...parsed, payload: {} }
}

function invalidShape([first]: ReturnType<typeof envelope.Errors>): DomainError {
  return invalid(`${first?.instancePath} ${first?.message}`)
}

function decode(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (cause) {
    throw invalid('it is not UTF-8', cause)
  }
}

function invalid(why: string, cause?: unknown): DomainError {
  return new DomainError('invalid_request', `The notification is not valid: ${why}`, undefined, { cause })
}

/** Times have seven fractional digits, and are in UTC even without a zone. */
function timeOf(eventDate: string): string {
  const time = instantAt(/(Z|[+-]\d\d:\d\d)$/.test(eventDate) ? eventDate : `${eventDate}Z`)
  if (time === null) throw invalid('eventDate is not a valid time')
  return time
}

const isAboutSubscription = (eventType: string) => eventType.startsWith('net.authorize.customer.subscription.')
const isSuspension = (eventType: string) => eventType === 'net.authorize.customer.subscription.suspended'

function statusOf(eventType: string, { status }: Payload): string | null {
  return status?.toLowerCase() ?? (isSuspension(eventType) ? 'suspended' : null)
}

function customerOf(eventType: string, { id, profile, customerProfileId }: Payload): string | null {
  const isAboutCustomer = /^net\.authorize\.customer\.[a-z]+$/.test(eventType)
  return (isAboutCustomer ? id : (profile?.customerProfileId ?? customerProfileId)) ?? null
}

function subscriptionOf(eventType: string, payload: Payload): ProviderNotification['subscription'] {
  if (isAboutSubscription(eventType))
    return subscriptionFacts(payload.id ?? null, { status_changed: isSuspension(eventType) })
  const { subscription } = payload
  if (!isAboutTransaction(eventType) || !subscription) return genericSubscription(eventType, payload.id ?? null)
  return subscriptionFacts(subscription.id ?? null, { is_first_invoice: subscription.payNum === '1' })
}
