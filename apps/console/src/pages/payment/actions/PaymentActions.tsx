// The buttons for what can be done with a payment.
import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Payment } from '../../../api/apiTypes.ts'
import type { ActionProps } from './actionProps.ts'
import { CancelDialog } from './CancelDialog.tsx'
import { CaptureDialog } from './CaptureDialog.tsx'
import { RefreshDialog } from './RefreshDialog.tsx'
import { RefundDialog } from './RefundDialog.tsx'

const dialogs = { Refund: RefundDialog, Capture: CaptureDialog, Cancel: CancelDialog, Refresh: RefreshDialog } as const
type Action = keyof typeof dialogs

export function PaymentActions(props: Omit<ActionProps, 'close'>) {
  const [opened, setOpened] = useState<Action | null>(null)
  const Dialog = opened === null ? null : dialogs[opened]
  const close = () => setOpened(null)
  return (
    <>
      {possibleActions(props.payment).map((action) => (
        <Button
          key={action}
          size="xs"
          variant={action === 'Refund' || action === 'Capture' ? 'filled' : 'default'}
          onClick={() => setOpened(action)}
        >
          {action}
        </Button>
      ))}
      {Dialog && <Dialog {...props} close={close} />}
    </>
  )
}

function possibleActions(payment: Payment): Action[] {
  const { status, amount_received_cents: received, amount_refunded_cents: refunded } = payment
  const actions: Action[] = []
  if (received > refunded) actions.push('Refund')
  if (payment.amount_capturable_cents > 0) actions.push('Capture')
  // An authorized payment is processing; a failed one could still be paid.
  if (status === 'pending' || status === 'failed' || payment.amount_capturable_cents > 0) actions.push('Cancel')
  return [...actions, 'Refresh']
}
