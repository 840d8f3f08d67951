// The default fields of a payment in commands and events, except price and payer.
export const paymentFields = {
  concept: null,
  description: null,
  reference_code: null,
  category: null,
  tags: null,
  payment_method_id: null,
  is_guest_payment: true,
  guest_email: null,
  guest_name: null,
  guest_phone: null,
  metadata: {},
  request_fingerprint: null,
}
