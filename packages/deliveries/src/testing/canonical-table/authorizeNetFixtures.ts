// Authorize.Net notification payloads with all members it sends. Those about transactions come from the fake, which also
// serves the transactions.

const profile = { customerProfileId: 394, customerPaymentProfileId: 694, customerShippingAddressId: 1_810_248_201 }

export const subscription = (status: string) => ({
  name: 'A monthly membership',
  amount: 11.55,
  status,
  profile,
  entityName: 'subscription',
  id: '4415473',
})

/** Some notifications contain only the id. */
export const shortSubscription = () => ({ entityName: 'subscription', id: '4415473' })

export const customer = () => ({
  paymentProfiles: [{ id: '694', customerType: 'individual' }],
  merchantCustomerId: 'member-17',
  description: 'A member',
  entityName: 'customerProfile',
  id: '394',
})

/** One id is a number, the other a string. */
export const paymentProfile = () => ({
  customerProfileId: 394,
  customerType: 'individual',
  entityName: 'customerPaymentProfile',
  id: '694',
})

/** A declined transaction, without further details. */
export const declinedTransaction = (id: string, responseCode: 2 | 3) => ({
  responseCode,
  authCode: '',
  avsResponse: 'P',
  authAmount: 5.5,
  entityName: 'transaction',
  id,
})
