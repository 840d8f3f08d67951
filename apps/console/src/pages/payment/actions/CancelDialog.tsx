// Cancels a payment, so that it can never be paid.
import { Textarea } from '@mantine/core'
import { useState } from 'react'
import { api, dataOf } from '../../../api/api.ts'
import { ConfirmDialog } from '../../../parts/ConfirmDialog.tsx'
import { reasonHeader, useReason } from '../../../parts/reason.tsx'
import { ActionOutcome } from './ActionOutcome.tsx'
import { ActionSubject } from './ActionSubject.tsx'
import type { ActionProps } from './actionProps.ts'
import { type Send, usePaymentAction } from './usePaymentAction.ts'

const maxReasonLength = 500

export function CancelDialog({ payment, payer, etag, close }: ActionProps) {
  const [reason, setReason] = useState('')
  const { reason: auditReason, reasonField } = useReason()
  const [revision] = useState(etag)
  const send: Send<{ reason: string; auditReason: string }, unknown> = (input, { isRepeated }) => {
    // A repeated request may meet a payment that the first one changed.
    const match = revision === null || isRepeated ? {} : { 'if-match': revision }
    const header = { ...match, ...reasonHeader(input.auditReason) }
    const body = input.reason === '' ? {} : { reason: input.reason }
    return dataOf(api.cancelPayment({ path: { id: payment.id }, header, body }))
  }
  const action = usePaymentAction({ paymentId: payment.id, name: 'cancel', send })
  const isFixed = action.openInput !== undefined || action.result !== undefined
  return (
    <ConfirmDialog
      opened
      title="Cancel this payment"
      confirm={action.openInput ? 'Repeat the cancellation' : 'Cancel the payment'}
      isDangerous={!action.openInput}
      isRunning={action.isRunning}
      isOver={action.result !== undefined}
      dismiss={action.openInput && 'Close'}
      close={close}
      submit={() => action.submit({ reason: reason.trim(), auditReason })}
    >
      <ActionSubject payment={payment} payer={payer} amountName="Amount" cents={payment.amount_cents} />
      {!isFixed && (
        <>
          <Textarea
            label="Reason"
            description="For the record; not sent to the provider"
            maxLength={maxReasonLength}
            data-autofocus
            value={reason}
            onChange={({ currentTarget }) => setReason(currentTarget.value)}
          />
          {reasonField}
        </>
      )}
      <ActionOutcome
        isUnknown={action.isUnknown}
        error={action.error}
        success={action.result ? 'The payment is canceled and can no longer be paid.' : null}
      />
    </ConfirmDialog>
  )
}
