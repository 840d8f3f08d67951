// Sends an action on a payment.
import { useQueryClient } from '@tanstack/react-query'
import type { RepeatEffect } from '../../../actions/actionStore.ts'
import { type Action, type Send, useAction } from '../../../actions/useAction.ts'
import { paymentKey } from '../../../api/paymentQueries.ts'

/** @param options `name` of the action, for the payment; see `useAction` */
export function usePaymentAction<Input, Result>(options: {
  readonly paymentId: string
  readonly name: string
  readonly effect?: RepeatEffect
  readonly send: Send<Input, Result>
}): Action<Input, Result> {
  const { paymentId, name, effect = 'once', send } = options
  const client = useQueryClient()
  return useAction({
    name: `${name} ${paymentId}`,
    effect,
    send,
    onResponse() {
      void client.invalidateQueries({ queryKey: paymentKey(paymentId) })
      void client.invalidateQueries({ queryKey: ['payments'] })
    },
  })
}
