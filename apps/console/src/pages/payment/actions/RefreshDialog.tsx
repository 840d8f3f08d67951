// Asks the provider for the state of a payment now.
import { api, dataOf } from '../../../api/api.ts'
import type { ChangedPayment } from '../../../api/apiTypes.ts'
import { ConfirmDialog } from '../../../parts/ConfirmDialog.tsx'
import { reasonHeader, useReason } from '../../../parts/reason.tsx'
import { ActionOutcome } from './ActionOutcome.tsx'
import { ActionSubject } from './ActionSubject.tsx'
import type { ActionProps } from './actionProps.ts'
import { type Send, usePaymentAction } from './usePaymentAction.ts'

export function RefreshDialog({ payment, payer, close }: ActionProps) {
  const { reason, reasonField } = useReason()
  const send: Send<{ reason: string }, ChangedPayment> = (input) =>
    dataOf(api.refreshPayment({ path: { id: payment.id }, header: reasonHeader(input.reason) }))
  const action = usePaymentAction({ paymentId: payment.id, name: 'refresh', send })
  return (
    <ConfirmDialog
      opened
      title="Refresh this payment"
      confirm={action.openInput ? 'Ask the provider again' : 'Ask the provider'}
      isRunning={action.isRunning}
      isOver={action.result !== undefined}
      dismiss={action.openInput && 'Close'}
      close={close}
      submit={() => action.submit({ reason })}
    >
      <ActionSubject payment={payment} payer={payer} amountName="Amount" cents={payment.amount_cents} />
      <p className="hint">
        Asks the provider for the state of the payment. An order that the payer approved is captured, and a payment page
        that has expired is replaced.
      </p>
      {action.openInput === undefined && action.result === undefined && reasonField}
      <ActionOutcome
        isUnknown={action.isUnknown}
        error={action.error}
        success={action.result ? `The payment is ${action.result.status}.` : null}
      />
    </ConfirmDialog>
  )
}
