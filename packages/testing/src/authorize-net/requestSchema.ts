// The order in which Authorize.Net wants the members of a request: its JSON API checks requests against an XML schema.

/** Members in their order. A number is the longest text that a member may hold; `true` is any value. */
type Sequence = { readonly [member: string]: Rule }
type Rule = Sequence | number | 'digits' | true

const authentication: Sequence = { merchantAuthentication: { name: 25, transactionKey: 16 }, refId: 20 }
const settings: Sequence = { setting: { settingName: true, settingValue: true } }
const listing: Sequence = {
  sorting: { orderBy: true, orderDescending: true },
  paging: { limit: true, offset: true },
}

const requests: Readonly<Record<string, Sequence>> = {
  getHostedPaymentPageRequest: {
    ...authentication,
    transactionRequest: {
      transactionType: true,
      amount: true,
      currencyCode: true,
      payment: true,
      profile: { createProfile: true, customerProfileId: 'digits', paymentProfile: true, shippingProfileId: 'digits' },
      order: { invoiceNumber: 20, description: 255 },
      poNumber: true,
      customer: { type: true, id: 20, email: 255 },
      billTo: true,
      shipTo: true,
      customerIP: true,
      transactionSettings: settings,
    },
    hostedPaymentSettings: settings,
  },
  getMerchantDetailsRequest: authentication,
  getTransactionDetailsRequest: { ...authentication, transId: 'digits' },
  getUnsettledTransactionListRequest: { ...authentication, status: true, ...listing },
  getSettledBatchListRequest: {
    ...authentication,
    includeStatistics: true,
    firstSettlementDate: true,
    lastSettlementDate: true,
  },
  getTransactionListRequest: { ...authentication, batchId: 'digits', ...listing },
  createCustomerProfileRequest: {
    ...authentication,
    profile: { merchantCustomerId: 20, description: 255, email: 255 },
    validationMode: true,
  },
  createCustomerPaymentProfileRequest: {
    ...authentication,
    customerProfileId: 'digits',
    paymentProfile: {
      customerType: true,
      billTo: true,
      payment: { opaqueData: { dataDescriptor: true, dataValue: true } },
      defaultPaymentProfile: true,
    },
    validationMode: true,
  },
  getCustomerPaymentProfileRequest: {
    ...authentication,
    customerProfileId: 'digits',
    customerPaymentProfileId: 'digits',
    unmaskExpirationDate: true,
    includeIssuerInfo: true,
  },
  deleteCustomerPaymentProfileRequest: {
    ...authentication,
    customerProfileId: 'digits',
    customerPaymentProfileId: 'digits',
  },
}

/** @returns what is wrong with a request, `undefined` when nothing is; `null` when there is no such request */
export function problemOf(name: string, request: unknown): string | null | undefined {
  const sequence = Object.hasOwn(requests, name) ? requests[name] : undefined
  return sequence ? problemIn(name, request, sequence) : null
}

function problemIn(path: string, value: unknown, rule: Rule): string | undefined {
  if (rule === true) return undefined
  if (rule === 'digits')
    return /^[0-9]+$/.test(String(value))
      ? undefined
      : `The '${path}' element is invalid - The Pattern constraint failed.`
  if (typeof rule === 'number') return typeof value === 'string' && value.length <= rule ? undefined : tooLong(path)
  if (Array.isArray(value)) return value.map((item) => problemIn(path, item, rule)).find((problem) => problem)
  if (typeof value !== 'object' || value === null) return `The element '${path}' is invalid.`
  const order = Object.keys(rule)
  let reached = -1
  for (const [member, inner] of Object.entries(value)) {
    const place = order.indexOf(member)
    if (place <= reached) return `The element '${path}' has invalid child element '${member}'.`
    reached = place
    const problem = problemIn(member, inner, rule[member] ?? true)
    if (problem) return problem
  }
  return undefined
}

const tooLong = (path: string) => `The '${path}' element is invalid - The MaxLength constraint failed.`
