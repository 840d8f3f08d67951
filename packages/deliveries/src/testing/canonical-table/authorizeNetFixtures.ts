// Payloads of Authorize.Net's notifications, with the members that it sends. Those about transactions come from the fake, which
// is asked about them.

const profile = { customerProfileId: 394, customerPaymentProfileId: 694, customerShippingAddressId: 1_810_248_201 }

export const subscription = (status: string) => ({
  name: 'A monthly membership',
  amount: 11.55,
  status,
  profile,
  entityName: 'subscription',
  id: '4415473',
})

/** Some kinds say no more than which one it is. */
export const shortSubscription = () => ({ entityName: 'subscription', id: '4415473' })

export const customer = () => ({
  paymentProfiles: [{ id: '694', customerType: 'individual' }],
  merchantCustomerId: 'member-17',
  description: 'A member',
  entityName: 'customerProfile',
  id: '394',
})

/** The one id is a number, the other text. */
export const paymentProfile = () => ({
  customerProfileId: 394,
  customerType: 'individual',
  entityName: 'customerPaymentProfile',
  id: '694',
})

/** A transaction of which nothing is told but that it was refused. */
export const declinedTransaction = (id: string, responseCode: 2 | 3) => ({
  responseCode,
  authCode: '',
  avsResponse: 'P',
  authAmount: 5.5,
  entityName: 'transaction',
  id,
})
