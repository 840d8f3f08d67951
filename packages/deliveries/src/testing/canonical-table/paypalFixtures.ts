// Resources of PayPal's notifications with all members PayPal sends, one for each row of the canonical table.

export const create_time = '2026-01-01T12:00:00.250Z'
export const current_period_end = '2026-01-31T10:00:00.000Z'

const second = '2026-01-01T12:00:00Z'
const api = 'https://api.paypal.com'
const link = (rel: string, path: string, method = 'GET') => ({ href: `${api}${path}`, rel, method })
const amount = { currency_code: 'EUR', value: '5.00' }
const about = { custom_id: 'order-17', invoice_id: 'INV-17' }
const order_id = '5O190127TN364715T'
const captureId = '3C679366HH908993F'
const name = { given_name: 'Bo', surname: 'Example' }
const shipping_address = {
  address: {
    address_line_1: '1 Example Street',
    admin_area_1: 'CA',
    admin_area_2: 'San Jose',
    postal_code: '95131',
    country_code: 'US',
  },
}
const payer = { name, email_address: 'bo@example.com', payer_id: 'QYR5Z8XDVJNXQ', address: { country_code: 'US' } }

export const order = (status: string) => ({
  resource_type: 'checkout-order',
  resource_version: '2.0',
  resource: {
    create_time: second,
    purchase_units: [
      {
        reference_id: 'default',
        amount,
        payee: { email_address: 'shop@example.com', merchant_id: 'MERCHANTEXAMPLE' },
        ...about,
        shipping: { name: { full_name: 'Bo Example' }, ...shipping_address },
      },
    ],
    links: [
      link('self', `/v2/checkout/orders/${order_id}`),
      link('capture', `/v2/checkout/orders/${order_id}/capture`, 'POST'),
    ],
    id: order_id,
    payment_source: { paypal: { email_address: payer.email_address, account_id: payer.payer_id, name } },
    intent: 'CAPTURE',
    payer,
    status,
  },
})

/** Contains only the order id, and no resource type. */
export const reversedApproval = () => ({
  resource: {
    order_id,
    purchase_units: [{ reference_id: 'default', ...about }],
    payment_source: { ideal: { name: 'Bo Example', country_code: 'NL' } },
  },
})

export const capture = (status: string, more: object = {}) => ({
  resource_type: 'capture',
  resource_version: '2.0',
  resource: {
    amount,
    seller_protection: { status: 'ELIGIBLE', dispute_categories: ['ITEM_NOT_RECEIVED', 'UNAUTHORIZED_TRANSACTION'] },
    supplementary_data: { related_ids: { order_id } },
    create_time: second,
    update_time: second,
    final_capture: true,
    seller_receivable_breakdown: {
      gross_amount: amount,
      paypal_fee: { currency_code: 'EUR', value: '0.52' },
      net_amount: { currency_code: 'EUR', value: '4.48' },
    },
    ...about,
    links: [
      link('self', `/v2/payments/captures/${captureId}`),
      link('refund', `/v2/payments/captures/${captureId}/refund`, 'POST'),
      link('up', `/v2/checkout/orders/${order_id}`),
    ],
    id: captureId,
    status,
    ...more,
  },
})

export const authorization = (status: string) => ({
  resource_type: 'authorization',
  resource_version: '2.0',
  resource: {
    amount,
    seller_protection: { status: 'ELIGIBLE' },
    supplementary_data: { related_ids: { order_id } },
    create_time: second,
    update_time: second,
    expiration_time: '2026-01-30T12:00:00Z',
    ...about,
    links: [
      link('self', '/v2/payments/authorizations/6AB80463RL4417803'),
      link('up', `/v2/checkout/orders/${order_id}`),
    ],
    id: '6AB80463RL4417803',
    status,
  },
})

/** Refers to its capture only by a link. */
export const refund = () => ({
  resource_type: 'refund',
  resource_version: '2.0',
  resource: {
    seller_payable_breakdown: { gross_amount: amount, paypal_fee: { ...amount, value: '0.00' }, net_amount: amount },
    amount,
    create_time: second,
    update_time: second,
    ...about,
    links: [link('self', '/v2/payments/refunds/4S9137316L4598613'), link('up', `/v2/payments/captures/${captureId}`)],
    id: '4S9137316L4598613',
    status: 'COMPLETED',
  },
})

export const dispute = (status: string) => ({
  resource_type: 'dispute',
  resource: {
    dispute_id: 'PP-D-27803',
    create_time: second,
    update_time: second,
    disputed_transactions: [
      {
        seller_transaction_id: captureId,
        custom: 'order-17',
        invoice_number: 'INV-17',
        gross_amount: amount,
        seller: {},
      },
    ],
    reason: 'MERCHANDISE_OR_SERVICE_NOT_RECEIVED',
    status,
    dispute_amount: amount,
    dispute_life_cycle_stage: 'INQUIRY',
    dispute_channel: 'INTERNAL',
    links: [link('self', '/v1/customer/disputes/PP-D-27803')],
  },
})

export const vaultToken = (kind: 'CREATED' | 'DELETED') => ({
  resource_type: 'payment_token',
  resource_version: '3.0',
  resource:
    kind === 'DELETED'
      ? { id: '8kk8451t' }
      : {
          // PayPal's own format, with letters for the time zone.
          time_created: '2026-01-01T04:00:00.000PST',
          links: [link('self', '/v3/vault/payment-tokens/8kk8451t')],
          id: '8kk8451t',
          payment_source: { card: { last_digits: '4444', expiry: '2030-08', brand: 'MASTERCARD' } },
          customer: { id: 'customer_F1' },
          metadata: { order_id },
        },
})

const executions = [
  {
    tenure_type: 'REGULAR',
    sequence: 1,
    cycles_completed: 1,
    cycles_remaining: 0,
    current_pricing_scheme_version: 1,
    total_cycles: 0,
  },
]
const billing = { outstanding_balance: { currency_code: 'EUR', value: '0.0' }, cycle_executions: executions }

/** @param more further `billing_info`; an ended subscription has no next billing time */
export const subscription = (status: string, more: object = { next_billing_time: '2026-01-31T10:00:00Z' }) => ({
  resource_type: 'subscription',
  resource_version: '2.0',
  resource: {
    quantity: '1',
    subscriber: { email_address: payer.email_address, payer_id: payer.payer_id, name, shipping_address },
    create_time: second,
    plan_overridden: false,
    shipping_amount: { currency_code: 'EUR', value: '0.0' },
    start_time: second,
    update_time: second,
    billing_info: {
      ...billing,
      last_payment: { amount: { currency_code: 'EUR', value: '10.0' }, time: second },
      ...more,
      failed_payments_count: 0,
    },
    links: [link('self', '/v1/billing/subscriptions/I-F1EXAMPLE0001')],
    id: 'I-F1EXAMPLE0001',
    plan_id: 'P-F1EXAMPLE0000000000001',
    status,
    status_update_time: second,
  },
})

/** Waits for the payer's approval, so the payer is unknown. */
export const unapprovedSubscription = () => ({
  resource_type: 'subscription',
  resource_version: '2.0',
  resource: {
    start_time: second,
    quantity: '1',
    create_time: second,
    links: [
      { ...link('approve', ''), href: 'https://www.paypal.com/webapps/billing/subscriptions?ba_token=BA-F1' },
      link('self', '/v1/billing/subscriptions/I-F1EXAMPLE0001'),
    ],
    id: 'I-F1EXAMPLE0001',
    plan_overridden: false,
    plan_id: 'P-F1EXAMPLE0000000000001',
    status: 'APPROVAL_PENDING',
  },
})

export const failedRenewal = () =>
  subscription('ACTIVE', {
    next_billing_time: '2026-01-31T10:00:00Z',
    last_failed_payment: {
      amount: { currency_code: 'EUR', value: '10.0' },
      time: second,
      reason_code: 'PAYMENT_DENIED',
      next_payment_retry_time: '2026-01-06T10:00:00Z',
    },
  })

/** From version 1 of the API; belongs to a subscription only if it names one. */
export const sale = (more: object = { billing_agreement_id: 'I-F1EXAMPLE0001' }) => ({
  resource_type: 'sale',
  resource: {
    ...more,
    amount: { total: '10.00', currency: 'EUR', details: { subtotal: '10.00' } },
    payment_mode: 'INSTANT_TRANSFER',
    update_time: second,
    create_time: second,
    protection_eligibility: 'ELIGIBLE',
    protection_eligibility_type: 'ITEM_NOT_RECEIVED_ELIGIBLE,UNAUTHORIZED_PAYMENT_ELIGIBLE',
    transaction_fee: { currency: 'EUR', value: '0.65' },
    custom: 'order-17',
    invoice_number: 'INV-17',
    links: [
      { href: `${api}/v1/payments/sale/80021663DE681814L`, rel: 'self', method: 'GET' },
      { href: `${api}/v1/payments/sale/80021663DE681814L/refund`, rel: 'refund', method: 'POST' },
    ],
    id: '80021663DE681814L',
    state: 'completed',
  },
})
