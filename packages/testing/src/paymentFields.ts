// The default fields of a payment in commands and events, except price and payer.
import { clientTextsOf } from '@paylog/domain/payments/clientTexts'

export const paymentFields = {
  ...clientTextsOf({}),
  payment_method_id: null,
  provider_method: null,
  capture_method: 'automatic' as const,
  return_url: null,
  cancel_url: null,
  statement_descriptor: null,
  expires_at: null,
  is_guest_payment: true,
  guest_email: null,
  guest_name: null,
  guest_phone: null,
  metadata: {},
  request_fingerprint: null,
}
