// What a client sends to open a payment (interface, section 4.1).
import { ClientObject, Email, LongText, RequiredText, Text } from '@paylog/domain/fields'
import { AmountCents, maxAmountCents } from '@paylog/domain/money'
import { type Static, Type } from 'typebox'

const maxMetadataKeys = 50
export const maxMetadataBytes = 16 * 1024

const Optional = Type.Optional

export const IntentBody = Type.Object(
  {
    total_cents: Optional(Type.Integer({ minimum: 1, maximum: maxAmountCents })),
    subtotal_cents: Optional(AmountCents),
    tax_cents: Optional(AmountCents),
    discount_cents: Optional(AmountCents),
    currency: Type.String({ pattern: '^[A-Za-z]{3}$', description: 'ISO 4217 code, any case' }),
    provider_id: Optional(RequiredText),
    concept: Optional(Text),
    description: Optional(LongText),
    reference_code: Optional(Text),
    category: Optional(Text),
    tags: Optional(LongText),
    payment_method_id: Optional(RequiredText),
    metadata: Optional(ClientObject({ maxProperties: maxMetadataKeys })),
    guest_data: Optional(Type.Object({ email: Email, name: Optional(Text), phone: Optional(Text) })),
  },
  {
    examples: [
      {
        total_cents: 2599,
        currency: 'EUR',
        provider_id: 'sandbox',
        concept: 'Annual membership',
        guest_data: { email: 'guest@example.com', name: 'Sample Guest' },
      },
    ],
  },
)
export type IntentBody = Static<typeof IntentBody>
