// The shapes of the answers, as far as they are read. Numbers are text here, because `parseExactJson` reads them.
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { maybe } from '../fields.ts'

const Text = Type.String({ maxLength: 8192 })
/** The schema's `numericString`, which also arrives as a number. */
const Id = Type.String({ pattern: '^[0-9]{1,20}$' })
const Decimal = Type.String({ pattern: '^[0-9]{1,13}(\\.[0-9]{1,10})?$' })

/** What every answer has; the gateway answers HTTP 200 to what it refuses, too. */
const Envelope = Type.Object({
  messages: Type.Object({
    resultCode: Type.Union([Type.Literal('Ok'), Type.Literal('Error')]),
    message: Type.Array(Type.Object({ code: Type.String({ pattern: '^[A-Z][0-9]{5}$' }), text: Text }), {
      minItems: 1,
    }),
  }),
})
export const envelope = Compile(Envelope)

export const emptyResponse = Compile(Type.Object({}))

export const merchantDetails = Compile(Type.Object({ currencies: Type.Array(Type.String({ pattern: '^[A-Z]{3}$' })) }))

export const hostedPaymentPage = Compile(Type.Object({ token: Type.String({ minLength: 1, maxLength: 8192 }) }))

const Transaction = Type.Object({
  transId: Id,
  refTransId: maybe(Text),
  submitTimeUTC: maybe(Text),
  transactionType: Text,
  transactionStatus: Text,
  responseCode: Type.String({ pattern: '^[0-9]$' }),
  responseReasonCode: maybe(Type.String({ pattern: '^[0-9]{1,6}$' })),
  subscription: maybe(Type.Object({ id: Id, payNum: Id })),
  order: maybe(Type.Object({ invoiceNumber: maybe(Text) })),
  authAmount: Decimal,
  settleAmount: Decimal,
  customer: maybe(Type.Object({ email: maybe(Text) })),
  profile: maybe(Type.Object({ customerProfileId: maybe(Text) })),
})
/** One transaction with all that is known about it. */
export type Transaction = Static<typeof Transaction>
export const transactionDetails = Compile(Type.Object({ transaction: Transaction }))

const TransactionSummary = Type.Object({
  transId: Id,
  submitTimeUTC: Text,
  transactionStatus: Text,
  invoiceNumber: maybe(Text),
})
/** A line of a list. */
export type TransactionSummary = Static<typeof TransactionSummary>
/** Without `transactions` when there are none. */
export const transactionList = Compile(Type.Object({ transactions: maybe(Type.Array(TransactionSummary)) }))

export const batchList = Compile(
  Type.Object({ batchList: maybe(Type.Array(Type.Object({ batchId: Id, settlementTimeUTC: Text }))) }),
)

export const createdProfile = Compile(Type.Object({ customerProfileId: Id }))
/** Also in the answer that refuses a duplicate. */
export const createdPaymentProfile = Compile(Type.Object({ customerPaymentProfileId: Id }))

const PaymentProfile = Type.Object({
  customerPaymentProfileId: Id,
  payment: maybe(
    Type.Object({
      creditCard: maybe(Type.Object({ cardNumber: maybe(Text), expirationDate: maybe(Text), cardType: maybe(Text) })),
      bankAccount: maybe(Type.Object({ accountNumber: maybe(Text) })),
      tokenInformation: maybe(Type.Object({ tokenNumber: maybe(Text), expirationDate: maybe(Text) })),
    }),
  ),
})
export type PaymentProfile = Static<typeof PaymentProfile>
export const paymentProfile = Compile(Type.Object({ paymentProfile: PaymentProfile }))
