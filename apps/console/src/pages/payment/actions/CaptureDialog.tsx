// Captures an authorized payment, or a part of it.
import { useState } from 'react'
import { ActionDialog } from '../../../actions/ActionDialog.tsx'
import type { Send } from '../../../actions/useAction.ts'
import { api, dataOf } from '../../../api/api.ts'
import type { ChangedPayment } from '../../../api/apiTypes.ts'
import { formatMoney } from '../../../format/money.ts'
import { reasonHeader, useReason } from '../../../parts/reason.tsx'
import { ActionSubject } from './ActionSubject.tsx'
import { useAmount } from './AmountField.tsx'
import type { ActionProps } from './actionProps.ts'
import { usePaymentAction } from './usePaymentAction.ts'

export function CaptureDialog({ payment, entries, etag, close }: ActionProps) {
  const { id, currency } = payment
  const [authorized] = useState(payment.amount_capturable_cents)
  const amount = useAmount({ currency, most: authorized })
  const { reason, reasonField } = useReason()
  const [revision] = useState(etag)
  const send: Send<{ amount_cents: number; reason: string }, ChangedPayment> = (input, { isRepeated }) => {
    const match = revision === null || isRepeated ? {} : { 'if-match': revision }
    const header = { ...match, ...reasonHeader(input.reason) }
    return dataOf(api.capturePayment({ path: { id }, header, body: { amount_cents: input.amount_cents } }))
  }
  // A payment is captured once: a repeated request is rejected, whether the first one arrived or not.
  const action = usePaymentAction({ paymentId: id, name: 'capture', effect: 'each time', send })
  const cents = action.openInput?.amount_cents ?? amount.cents
  const shown = cents === null ? '' : ` ${formatMoney(cents, currency)}`
  const { result } = action
  return (
    <ActionDialog
      title="Capture this payment"
      action={action}
      confirm={`Capture${shown}`}
      repeat={`Repeat the capture of${shown}`}
      fields={
        <>
          {amount.fieldWith('The payment is captured once; the rest is released.')}
          {reasonField}
        </>
      }
      success={
        result && `${formatMoney(result.amount_received_cents, currency)} received; the payment is ${result.status}.`
      }
      close={close}
      submit={() => amount.possible !== null && action.submit({ amount_cents: amount.possible, reason })}
    >
      <ActionSubject payment={payment} entries={entries} amounts={[['Capture', cents]]} />
    </ActionDialog>
  )
}
