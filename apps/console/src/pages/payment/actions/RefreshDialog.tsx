// Asks the provider for the state of a payment now.
import { ActionDialog } from '../../../actions/ActionDialog.tsx'
import type { Send } from '../../../actions/useAction.ts'
import { api, dataOf } from '../../../api/api.ts'
import type { ChangedPayment } from '../../../api/apiTypes.ts'
import { reasonHeader, useReason } from '../../../parts/reason.tsx'
import { ActionSubject } from './ActionSubject.tsx'
import type { ActionProps } from './actionProps.ts'
import { usePaymentAction } from './usePaymentAction.ts'

export function RefreshDialog({ payment, entries, close }: ActionProps) {
  const { reason, reasonField } = useReason()
  const send: Send<{ reason: string }, ChangedPayment> = (input) =>
    dataOf(api.refreshPayment({ path: { id: payment.id }, header: reasonHeader(input.reason) }))
  const action = usePaymentAction({ paymentId: payment.id, name: 'refresh', send })
  return (
    <ActionDialog
      title="Refresh this payment"
      action={action}
      confirm="Ask the provider"
      repeat="Ask the provider again"
      fields={reasonField}
      success={`The payment is ${action.result?.status}.`}
      close={close}
      submit={() => action.submit({ reason })}
    >
      <ActionSubject payment={payment} entries={entries} amounts={[['Amount', payment.amount_cents]]} />
      <p className="hint">
        Asks the provider for the state of the payment. An order that the payer approved is captured, and a payment page
        that has expired is replaced.
      </p>
    </ActionDialog>
  )
}
