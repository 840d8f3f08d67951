// Gives money back.
import { NativeSelect, Textarea } from '@mantine/core'
import { currencyExponent } from '@paylog/domain/currency'
import { limitInMinorUnits } from '@paylog/domain/rights'
import { useState } from 'react'
import { ActionDialog } from '../../../actions/ActionDialog.tsx'
import { api, dataOf } from '../../../api/api.ts'
import type { Refund, RefundReason } from '../../../api/apiTypes.ts'
import { formatMoney } from '../../../format/money.ts'
import { choicesOf } from '../../../parts/fields.tsx'
import { reasonHeader, useReason } from '../../../parts/reason.tsx'
import { oneOf } from '../../../search.ts'
import { useIdentity } from '../../../session/identity.ts'
import { pendingRefunds } from '../moneyBack.ts'
import { ActionSubject } from './ActionSubject.tsx'
import { useAmount } from './AmountField.tsx'
import type { ActionProps } from './actionProps.ts'
import { DisputeWarning } from './DisputeWarning.tsx'
import { usePaymentAction } from './usePaymentAction.ts'

type Input = {
  readonly amount_cents: number
  readonly reason: RefundReason
  readonly note: string
  readonly auditReason: string
}

const reasons = ['requested_by_customer', 'duplicate', 'fraudulent', 'other'] as const
const maxNoteLength = 500

export function RefundDialog({ payment, entries, close }: ActionProps) {
  const { id, currency, amount_received_cents: received, amount_refunded_cents: refunded } = payment
  const pending = pendingRefunds(entries)
  const left = Math.max(received - refunded - pending, 0)
  const limit = useRefundLimit(currency)
  const mostBecause = limit < left ? 'That is the limit of your user type for one refund' : undefined
  const amount = useAmount({ currency, most: Math.min(left, limit), mostBecause })
  const [reason, setReason] = useState<RefundReason>('requested_by_customer')
  const [note, setNote] = useState('')
  const { reason: auditReason, reasonField } = useReason()
  const action = usePaymentAction({ paymentId: id, name: 'refund', send: refundOf(id) })
  const { openInput, result } = action
  const cents = result?.amount_cents ?? openInput?.amount_cents ?? amount.cents
  const shown = cents === null ? '' : ` ${formatMoney(cents, currency)}`
  // After a request these may count the refund of this dialog.
  const isBefore = openInput === undefined && result === undefined
  return (
    <ActionDialog
      title="Refund this payment"
      action={action}
      confirm={`Refund${shown}`}
      repeat={`Repeat the refund of${shown}`}
      isDangerous
      fields={
        <>
          {amount.fieldWith()}
          <NativeSelect
            label="Reason"
            data={choicesOf(reasons)}
            value={reason}
            onChange={({ currentTarget }) => setReason(oneOf(reasons, currentTarget.value) ?? 'other')}
          />
          <Textarea
            label="Note"
            description="The payer sees it; not sent to the provider"
            maxLength={maxNoteLength}
            value={note}
            onChange={({ currentTarget }) => setNote(currentTarget.value)}
          />
          {reasonField}
        </>
      }
      success={result && resultText(result)}
      close={close}
      submit={() =>
        amount.possible !== null &&
        action.submit({ amount_cents: amount.possible, reason, note: note.trim(), auditReason })
      }
    >
      <ActionSubject
        payment={payment}
        entries={entries}
        amounts={[
          ['Refund', cents],
          isBefore && ['Given back before', refunded],
          isBefore && pending > 0 && ['On its way back', pending],
        ]}
      />
      {isBefore && <DisputeWarning payment={payment} entries={entries} />}
    </ActionDialog>
  )
}

const refundOf =
  (id: string) =>
  (input: Input, { key }: { key: string }) => {
    const { note, auditReason, ...body } = input
    const header = { 'idempotency-key': key, ...reasonHeader(auditReason) }
    return dataOf(api.createRefund({ path: { id }, header, body: { ...body, ...(note !== '' && { note }) } }))
  }

/** The most that one refund may give back, in minor units. */
function useRefundLimit(currency: string): number {
  const { refund_limit_cents: limit } = useIdentity()
  return limit === null ? Number.POSITIVE_INFINITY : limitInMinorUnits(limit, currencyExponent(currency))
}

function resultText({ amount_cents, currency, status }: Refund): string {
  const amount = amount_cents === null ? 'an unknown amount' : formatMoney(amount_cents, currency)
  if (status === 'succeeded') return `${amount} was refunded.`
  return status === 'pending' ? `The refund of ${amount} is on its way.` : `The refund of ${amount} failed.`
}
