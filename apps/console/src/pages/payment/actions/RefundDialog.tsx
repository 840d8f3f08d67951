// Gives money back.
import { NativeSelect, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api, dataOf } from '../../../api/api.ts'
import type { Refund, RefundReason } from '../../../api/apiTypes.ts'
import { decimalOf, formatMoney, parseMoney } from '../../../format/money.ts'
import { ConfirmDialog } from '../../../parts/ConfirmDialog.tsx'
import { choicesOf } from '../../../parts/filters.tsx'
import { reasonHeader, useReason } from '../../../parts/reason.tsx'
import { oneOf } from '../../../search.ts'
import { ActionOutcome } from './ActionOutcome.tsx'
import { ActionSubject } from './ActionSubject.tsx'
import type { ActionProps } from './actionProps.ts'
import { usePaymentAction } from './usePaymentAction.ts'

type Input = {
  readonly amount_cents: number
  readonly reason: RefundReason
  readonly note: string
  readonly auditReason: string
}

const reasons = ['requested_by_customer', 'duplicate', 'fraudulent', 'other'] as const
const maxNoteLength = 500

export function RefundDialog({ payment, payer, close }: ActionProps) {
  const { id, currency } = payment
  const [left] = useState(payment.amount_received_cents - payment.amount_refunded_cents)
  const [amount, setAmount] = useState(decimalOf(left, currency))
  const [reason, setReason] = useState<RefundReason>('requested_by_customer')
  const [note, setNote] = useState('')
  const { reason: auditReason, reasonField } = useReason()
  const action = usePaymentAction({ paymentId: id, name: 'refund', send: refundOf(id) })
  const cents = action.openInput?.amount_cents ?? parseMoney(amount, currency)
  const isPossible = cents !== null && cents > 0 && cents <= left
  const shown = cents === null ? '' : ` ${formatMoney(cents, currency)}`
  const isFixed = action.openInput !== undefined || action.result !== undefined
  return (
    <ConfirmDialog
      opened
      title="Refund this payment"
      confirm={action.openInput ? `Repeat the refund of${shown}` : `Refund${shown}`}
      isDangerous={!action.openInput}
      isRunning={action.isRunning}
      isOver={action.result !== undefined}
      dismiss={action.openInput && 'Close'}
      close={close}
      submit={() => isPossible && action.submit({ amount_cents: cents, reason, note: note.trim(), auditReason })}
    >
      <ActionSubject payment={payment} payer={payer} amountName="Refund" cents={cents} />
      {!isFixed && (
        <>
          <TextInput
            label={`Amount in ${currency}`}
            description={`At most ${formatMoney(left, currency)}`}
            inputMode="decimal"
            required
            data-autofocus
            value={amount}
            error={isPossible ? undefined : `Enter an amount up to ${formatMoney(left, currency)}`}
            onChange={({ currentTarget }) => setAmount(currentTarget.value)}
          />
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
      )}
      <ActionOutcome
        isUnknown={action.isUnknown}
        error={action.error}
        success={action.result ? resultText(action.result) : null}
      />
    </ConfirmDialog>
  )
}

const refundOf =
  (id: string) =>
  (input: Input, { key }: { key: string }) => {
    const { note, auditReason, ...body } = input
    const header = { 'idempotency-key': key, ...reasonHeader(auditReason) }
    return dataOf(api.createRefund({ path: { id }, header, body: { ...body, ...(note !== '' && { note }) } }))
  }

function resultText({ amount_cents, currency, status }: Refund): string {
  const amount = amount_cents === null ? 'an unknown amount' : formatMoney(amount_cents, currency)
  if (status === 'succeeded') return `${amount} was refunded.`
  return status === 'pending' ? `The refund of ${amount} is on its way.` : `The refund of ${amount} failed.`
}
