// Transactions that we submit for a charge: its capture, its void and its refunds.
// https://developer.authorize.net/api/reference/index.html#payment-transactions
import { ProviderError } from '../provider.ts'
import { ErrorResponse } from '../providerApi.ts'
import { unreadableResponse } from '../responses.ts'
import { type Api, type GatewayRequest, type TransactionResult, transactionResult } from './api.ts'

export type Submitted = {
  readonly transId: string
  /** The gateway's reason code; 310 and 311: voided or captured before. */
  readonly code: string
  /** The gateway's clock, ISO 8601. */
  readonly responded_at: string
}

/**
 * Submits a transaction.
 * @param transactionRequest in the order of the schema
 * @param repeat `once` unless the gateway takes a repetition for the same transaction, as it does for voids and captures
 * @throws ProviderError unless it is approved; `unknown` with the code 11 for a duplicate
 */
export async function submitTransaction(
  api: Api,
  transactionRequest: object,
  repeat: Pick<GatewayRequest, 'repeat'> = {},
): Promise<Submitted> {
  const call = { method: 'createTransaction', members: { transactionRequest }, ...repeat }
  try {
    const { body, responded_at } = await api.request(transactionResult, call)
    const { responseCode, transId, messages } = body.transactionResponse
    if (responseCode !== '1') throw transactionError(body)
    if (!transId || transId === '0') throw unreadableResponse('unreadable_answer')
    return { transId, code: messages?.[0]?.code ?? '1', responded_at }
  } catch (error) {
    // The reason is beside the error of the call.
    if (error instanceof ErrorResponse && transactionResult.Check(error.response.body))
      throw transactionError(error.response.body)
    throw error
  }
}

/** «A duplicate transaction has been submitted.» */
const duplicate = '11'

/** https://developer.authorize.net/api/reference/responseCodes.html */
const messagesByCode: Readonly<Record<string, string>> = {
  '16': 'Authorize.Net does not know the transaction',
  '54': 'Authorize.Net cannot refund this transaction',
}

function transactionError({ transactionResponse }: TransactionResult): ProviderError {
  const { responseCode, errors } = transactionResponse
  const code = errors?.[0]?.errorCode ?? `response_code_${responseCode}`
  if (code === duplicate)
    return new ProviderError('unknown', code, 'Authorize.Net has received this transaction before')
  if (responseCode === '2') return new ProviderError('declined', code, 'Authorize.Net declined')
  return new ProviderError('rejected', code, messagesByCode[code] ?? 'Authorize.Net rejected the transaction')
}
