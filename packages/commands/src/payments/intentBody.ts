// The body that initiates a payment (interface, section 4.1), and the command built from it.

import type { Actor } from '@paylog/domain/actor'
import { DomainError, invalidFields } from '@paylog/domain/errors'
import { ClientObject, Email, mapFields, maxTextLength, RequiredText, Text } from '@paylog/domain/fields'
import { AmountCents, CurrencyCode, maxAmountCents } from '@paylog/domain/money'
import { clientTexts, clientTextsOf } from '@paylog/domain/payments/clientTexts'
import { type InitiatePayment, priceOf } from '@paylog/domain/payments/initiate'
import { valueAt } from '@paylog/providers/lenient'
import { type Static, Type } from 'typebox'
import { requireOwnEmail } from '../guest-tokens/guestTokens.ts'
import { checkoutFields, checkoutOf, type PaymentOptions } from './checkout.ts'

const maxMetadataKeys = 50
const maxMetadataBytes = 16 * 1024

const Optional = Type.Optional

export const IntentBody = Type.Object(
  {
    total_cents: Optional(Type.Integer({ minimum: 1, maximum: maxAmountCents })),
    subtotal_cents: Optional(AmountCents),
    tax_cents: Optional(AmountCents),
    discount_cents: Optional(AmountCents),
    currency: CurrencyCode,
    provider_id: Optional(RequiredText),
    ...mapFields(clientTexts, (text) => Optional(text)),
    payment_method_id: Optional(RequiredText),
    ...checkoutFields,
    metadata: Optional(ClientObject({ maxProperties: maxMetadataKeys })),
    guest_data: Optional(Type.Object({ email: Email, name: Optional(Text), phone: Optional(Text) })),
  },
  {
    title: 'NewPayment',
    examples: [
      {
        total_cents: 2599,
        currency: 'EUR',
        provider_id: 'sandbox',
        concept: 'Annual membership',
        guest_data: { email: 'guest@example.com', name: 'Sample Guest' },
      },
      {
        total_cents: 2599,
        currency: 'EUR',
        provider_id: 'sandbox',
        return_url: 'https://shop.example.com/thanks',
        cancel_url: 'https://shop.example.com/cart',
        statement_descriptor: 'SAMPLE SHOP',
        guest_data: { email: 'guest@example.com' },
      },
    ],
  },
)
export type IntentBody = Static<typeof IntentBody>

/**
 * Checks that a guest sends guest_data with the token's e-mail.
 * @param body not validated yet
 * @throws DomainError `forbidden`
 */
export function checkCaller(actor: Actor, body: unknown): void {
  if (actor.kind !== 'guest') return
  const guest = valueAt(body, 'guest_data')
  if (guest === undefined) throw new DomainError('forbidden', 'A guest token cannot create a payment; send guest_data')
  requireOwnEmail(actor, valueAt(guest, 'email'), 'guest_data')
}

/**
 * The fields of the command that follow from the caller and the body.
 * @throws DomainError `invalid_request` for metadata that is too large or has a key that is too long, and the errors
 *   of `priceOf` and `checkoutOf`
 */
export function initiatePaymentCommand(
  actor: Actor,
  body: IntentBody,
  occurred_at: string,
  options: PaymentOptions,
): Omit<InitiatePayment, 'payment_id' | 'request_fingerprint' | 'occurred_at' | 'provider_id' | 'provider_method'> {
  const metadata = body.metadata ?? {}
  if (Buffer.byteLength(JSON.stringify(metadata)) > maxMetadataBytes)
    throw invalidMetadata(`must be at most ${maxMetadataBytes} bytes`)
  if (Object.keys(metadata).some((key) => key.length > maxTextLength))
    throw invalidMetadata(`must have keys of at most ${maxTextLength} characters`)
  const { guest_data } = body
  return {
    ...priceOf(body),
    ...clientTextsOf(body),
    payment_method_id: body.payment_method_id ?? null,
    ...checkoutOf(body, occurred_at, options),
    metadata,
    is_guest_payment: actor.kind !== 'session',
    guest_email: guest_data?.email ?? null,
    guest_name: guest_data?.name ?? null,
    guest_phone: guest_data?.phone ?? null,
    payer:
      actor.kind === 'session'
        ? { id: actor.user_id, type: actor.user_type, email: actor.user_email }
        : { id: null, type: 'guest', email: guest_data?.email ?? null },
  }
}

const invalidMetadata = (message: string) => invalidFields([{ field: 'metadata', message }])
