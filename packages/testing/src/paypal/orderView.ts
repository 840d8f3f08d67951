// An order as PayPal shows it.
import type { Capture, Order } from './orders.ts'

/** The whole order. */
export function representation(order: Order, apiBase: string) {
  const { id, status, unit, captures, create_time } = order
  const self = `${apiBase}/v2/checkout/orders/${id}`
  const link = (rel: string, href: string, method: string) => ({ href, rel, method })
  const isOpen = status === 'CREATED' || status === 'SAVED' || status === 'PAYER_ACTION_REQUIRED'
  return {
    id,
    intent: 'CAPTURE',
    status,
    ...(isOpen ? {} : { payer }),
    purchase_units: [
      {
        reference_id: 'default',
        ...unit,
        payee,
        payments: captures.length > 0 ? { captures: captures.map((made) => shownCapture(order, made)) } : undefined,
      },
    ],
    create_time,
    links: [
      link('self', self, 'GET'),
      ...(isOpen ? [link('approve', `https://www.sandbox.paypal.com/checkoutnow?token=${id}`, 'GET')] : []),
      ...(status === 'COMPLETED' ? [] : [link('update', self, 'PATCH'), link('capture', `${self}/capture`, 'POST')]),
    ],
  }
}

/** What is shown of an order that was just made or captured, unless the whole is asked for. */
export function minimal(order: Order, apiBase: string) {
  const { id, status, links, purchase_units } = representation(order, apiBase)
  if (order.captures.length === 0) return { id, status, links }
  return {
    id,
    status,
    links,
    purchase_units: purchase_units.map(({ reference_id, payments }) => ({ reference_id, payments })),
  }
}

function shownCapture({ unit }: Order, { id, status, amount, create_time }: Capture) {
  const { custom_id, invoice_id } = unit
  return {
    id,
    status,
    ...(status === 'PENDING' ? { status_details: { reason: 'PENDING_REVIEW' } } : {}),
    amount,
    final_capture: true,
    seller_protection: { status: 'NOT_ELIGIBLE' },
    ...(custom_id === undefined ? {} : { custom_id }),
    ...(invoice_id === undefined ? {} : { invoice_id }),
    create_time,
    update_time: create_time,
  }
}

export const payer = {
  name: { given_name: 'Pat', surname: 'Example' },
  email_address: 'pat@example.com',
  payer_id: 'QYR5Z8XDVJNXQ',
  address: { country_code: 'US' },
}

export const payee = { email_address: 'merchant@example.com', merchant_id: 'C7CYMKZDG8D6E' }
