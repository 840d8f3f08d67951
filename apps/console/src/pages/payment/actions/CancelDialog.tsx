// Cancels a payment, so that it can never be paid.
import { Textarea } from '@mantine/core'
import { maxNoteLength } from '@paylog/domain/reason'
import { useState } from 'react'
import { ActionDialog } from '../../../actions/ActionDialog.tsx'
import type { Send } from '../../../actions/useAction.ts'
import { api, dataOf } from '../../../api/api.ts'
import { reasonHeader, useReason } from '../../../parts/reason.tsx'
import { ActionSubject } from './ActionSubject.tsx'
import type { ActionProps } from './actionProps.ts'
import { usePaymentAction } from './usePaymentAction.ts'

export function CancelDialog({ payment, entries, etag, close }: ActionProps) {
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
  return (
    <ActionDialog
      title="Cancel this payment"
      action={action}
      confirm="Cancel the payment"
      dismiss="Keep the payment"
      repeat="Repeat the cancellation"
      isDangerous
      fields={
        <>
          <Textarea
            label="Reason"
            description="For the record; not sent to the provider"
            maxLength={maxNoteLength}
            data-autofocus
            value={reason}
            onChange={({ currentTarget }) => setReason(currentTarget.value)}
          />
          {reasonField}
        </>
      }
      success="The payment is canceled and can no longer be paid."
      close={close}
      submit={() => action.submit({ reason: reason.trim(), auditReason })}
    >
      <ActionSubject payment={payment} entries={entries} amounts={[['Amount', payment.amount_cents]]} />
    </ActionDialog>
  )
}
