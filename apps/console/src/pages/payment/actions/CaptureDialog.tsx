// Captures an authorized payment, or a part of it.
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { api, dataOf } from '../../../api/api.ts'
import type { ChangedPayment } from '../../../api/apiTypes.ts'
import { decimalOf, formatMoney, parseMoney } from '../../../format/money.ts'
import { ConfirmDialog } from '../../../parts/ConfirmDialog.tsx'
import { reasonHeader, useReason } from '../../../parts/reason.tsx'
import { ActionOutcome } from './ActionOutcome.tsx'
import { ActionSubject } from './ActionSubject.tsx'
import type { ActionProps } from './actionProps.ts'
import { type Send, usePaymentAction } from './usePaymentAction.ts'

export function CaptureDialog({ payment, payer, etag, close }: ActionProps) {
  const { id, currency } = payment
  const [authorized] = useState(payment.amount_capturable_cents)
  const [amount, setAmount] = useState(decimalOf(authorized, currency))
  const { reason, reasonField } = useReason()
  const [revision] = useState(etag)
  const send: Send<{ amount_cents: number; reason: string }, ChangedPayment> = (input, { isRepeated }) => {
    const match = revision === null || isRepeated ? {} : { 'if-match': revision }
    const header = { ...match, ...reasonHeader(input.reason) }
    return dataOf(api.capturePayment({ path: { id }, header, body: { amount_cents: input.amount_cents } }))
  }
  const action = usePaymentAction({ paymentId: id, name: 'capture', send })
  const cents = action.openInput?.amount_cents ?? parseMoney(amount, currency)
  const isPossible = cents !== null && cents > 0 && cents <= authorized
  const isFixed = action.openInput !== undefined || action.result !== undefined
  const shown = cents === null ? '' : ` ${formatMoney(cents, currency)}`
  return (
    <ConfirmDialog
      opened
      title="Capture this payment"
      confirm={action.openInput ? `Repeat the capture of${shown}` : `Capture${shown}`}
      isRunning={action.isRunning}
      isOver={action.result !== undefined}
      dismiss={action.openInput && 'Close'}
      close={close}
      submit={() => isPossible && action.submit({ amount_cents: cents, reason })}
    >
      <ActionSubject payment={payment} payer={payer} amountName="Capture" cents={cents} />
      {!isFixed && (
        <>
          <TextInput
            label={`Amount in ${currency}`}
            description={`At most ${formatMoney(authorized, currency)}. The payment is captured once; the rest is released.`}
            inputMode="decimal"
            required
            data-autofocus
            value={amount}
            error={isPossible ? undefined : `Enter an amount up to ${formatMoney(authorized, currency)}`}
            onChange={({ currentTarget }) => setAmount(currentTarget.value)}
          />
          {reasonField}
        </>
      )}
      <ActionOutcome
        isUnknown={action.isUnknown}
        error={action.error}
        success={
          action.result
            ? `${formatMoney(action.result.amount_received_cents, currency)} received; the payment is ${action.result.status}.`
            : null
        }
      />
    </ConfirmDialog>
  )
}
