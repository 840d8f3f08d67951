// The invoice number, which ties the transactions at Authorize.Net to a payment of ours.

/** The last 20 hexadecimal digits of the payment's id: the gateway's limit is 20 characters. */
export function invoiceNumberOf(payment_id: string): string {
  return payment_id.replaceAll('-', '').slice(-20).toLowerCase()
}

/** Whether it has the form of ours. Any system that shares the merchant account may choose others. */
export function isInvoiceNumber(text: string): boolean {
  return /^[0-9a-f]{20}$/.test(text)
}
