// The fake's single API address: authentication, checks against the XML schema, and the response format.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { type FaultPlan, valueAt } from '../fakeServer.ts'

/** An error response of the API. */
export class AuthorizeNetApiError extends Error {
  readonly code: string
  /** Additional members of the response. */
  readonly members: object

  constructor(code: string, text: string, members: object = {}) {
    super(text)
    this.code = code
    this.members = members
  }
}

const mark = 'decimal:'

/** A placeholder that `toJson` writes as a number with its decimals: `5.00`, not `5`. */
export function decimal(cents: number, places = 2): string {
  const digits = String(cents).padStart(3, '0')
  const exact = `${digits.slice(0, -2)}.${digits.slice(-2)}`
  return mark + (places < 2 && exact.endsWith('0') ? exact.slice(0, -1) : exact)
}

export function toJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/"decimal:([0-9.]+)"/g, '$1')
}

/** The text at a path; `''` when there is none. */
export function textAt(request: unknown, ...path: readonly string[]): string {
  const value = valueAt(request, ...path)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/**
 * Members in their required order, because the JSON API checks requests against an XML schema. A number is the maximum
 * length of a text; `true` allows any value.
 */
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
  createTransactionRequest: {
    ...authentication,
    transactionRequest: {
      transactionType: true,
      amount: true,
      currencyCode: true,
      payment: true,
      profile: true,
      authCode: true,
      refTransId: 'digits',
      order: { invoiceNumber: 20, description: 255 },
      poNumber: 25,
      customer: true,
      billTo: true,
      shipTo: true,
      customerIP: true,
      transactionSettings: settings,
    },
  },
  authenticateTestRequest: authentication,
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
  deleteCustomerProfileRequest: { ...authentication, customerProfileId: 'digits' },
  deleteCustomerPaymentProfileRequest: {
    ...authentication,
    customerProfileId: 'digits',
    customerPaymentProfileId: 'digits',
  },
}

/** @returns the problem of a request; `undefined` for none; `null` when the request is unknown */
function problemOf(name: string, request: unknown): string | null | undefined {
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

export type AuthorizeNetCall = {
  /** The request name without its suffix `Request`. */
  readonly method: string
  readonly request: Readonly<Record<string, unknown>>
}

/** `act` executes the request; it throws AuthorizeNetApiError. */
export type ApiMethod = {
  readonly changes: boolean
  readonly act: (request: Readonly<Record<string, unknown>>) => object
}

export type FakeServer = {
  readonly methods: Readonly<Record<string, ApiMethod>>
  readonly login: { readonly name: string; readonly transactionKey: string }
  /** For calls that change something, and for those that only read. */
  readonly faults: FaultPlan
  readonly readFaults: FaultPlan
  /** Errors for the next calls; one with a method waits for a call of that method. */
  readonly plannedErrors: {
    readonly code: string
    readonly text: string
    readonly method: string | undefined
    readonly members: object
  }[]
  readonly calls: AuthorizeNetCall[]
  readonly now: () => number
  /** The real API begins every response with one. */
  readonly byteOrderMark: boolean
}

export async function respond(server: FakeServer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.setHeader('date', new Date(server.now()).toUTCString())
  if (request.method !== 'POST' || request.url !== '/xml/v1/request.api') {
    response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>')
    return
  }
  const call = parse(await text(request))
  const method = call && server.methods[call.method]
  if (call) server.calls.push(call)
  const plan = method && !method.changes ? server.readFaults : server.faults
  await plan.play(
    response,
    () => resultOf(server, call, method),
    (result) => {
      response
        .writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
        .end((server.byteOrderMark ? '\ufeff' : '') + toJson(result))
    },
  )
}

function resultOf(server: FakeServer, call: AuthorizeNetCall | undefined, method: ApiMethod | undefined): object {
  try {
    return messages('Ok', 'I00001', 'Successful.', perform(server, call, method))
  } catch (error) {
    if (!(error instanceof AuthorizeNetApiError)) throw error
    return messages('Error', error.code, error.message, error.members)
  }
}

function perform(server: FakeServer, call: AuthorizeNetCall | undefined, method: ApiMethod | undefined): object {
  if (!call) throw new AuthorizeNetApiError('E00003', 'Root element is missing.')
  const problem = problemOf(`${call.method}Request`, call.request)
  if (problem === null || !method)
    throw new AuthorizeNetApiError('E00004', 'The name of the requested API method is invalid.')
  if (problem !== undefined) throw new AuthorizeNetApiError('E00003', problem)
  const { name, transactionKey } = server.login
  const given = call.request.merchantAuthentication
  if (JSON.stringify(given) !== JSON.stringify({ name, transactionKey }))
    throw new AuthorizeNetApiError('E00007', 'User authentication failed due to invalid authentication values.')
  const index = server.plannedErrors.findIndex((planned) => (planned.method ?? call.method) === call.method)
  const [planned] = index === -1 ? [] : server.plannedErrors.splice(index, 1)
  if (planned) throw new AuthorizeNetApiError(planned.code, planned.text, planned.members)
  const { refId } = call.request
  return { ...method.act(call.request), ...(refId === undefined ? {} : { refId }) }
}

function messages(resultCode: 'Ok' | 'Error', code: string, text: string, members: object) {
  return { ...members, messages: { resultCode, message: [{ code, text }] } }
}

function parse(body: string): AuthorizeNetCall | undefined {
  try {
    const [entry] = Object.entries(JSON.parse(body) as Record<string, AuthorizeNetCall['request']>)
    return entry && { method: entry[0].replace(/Request$/, ''), request: entry[1] }
  } catch {
    return undefined
  }
}
