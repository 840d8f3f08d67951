// The buttons for what can be done with a payment.
import { Button } from '@mantine/core'
import type { OperationId } from '@paylog/client/client'
import { useState } from 'react'
import type { Payment } from '../../../api/apiTypes.ts'
import { useMay } from '../../../session/rights.ts'
import type { ActionProps } from './actionProps.ts'
import { CancelDialog } from './CancelDialog.tsx'
import { CaptureDialog } from './CaptureDialog.tsx'
import { RefreshDialog } from './RefreshDialog.tsx'
import { RefundDialog } from './RefundDialog.tsx'

const dialogs = { Refund: RefundDialog, Capture: CaptureDialog, Cancel: CancelDialog, Refresh: RefreshDialog } as const
type Action = keyof typeof dialogs

const operations = {
  Refund: 'createRefund',
  Capture: 'capturePayment',
  Cancel: 'cancelPayment',
  Refresh: 'refreshPayment',
} as const satisfies Record<Action, OperationId>

export function PaymentActions(props: Omit<ActionProps, 'close'>) {
  const [opened, setOpened] = useState<Action | null>(null)
  const Dialog = opened === null ? null : dialogs[opened]
  const close = () => setOpened(null)
  const may = useMay()
  return (
    <>
      {possibleActions(props.payment)
        .filter((action) => may(operations[action]))
        .map((action) => (
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
