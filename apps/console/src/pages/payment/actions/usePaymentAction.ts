// Sends an action on a payment until its outcome is known.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { isOutcomeUnknown } from '../../../api/apiErrors.ts'
import { paymentKey } from '../../../api/paymentQueries.ts'
import { randomKey } from '../../../format/randomKey.ts'
import { type Attempt, createAttemptMemory, endingOf, mayBeDone } from './attempts.ts'

const memory = createAttemptMemory()

/** @param isRepeated whether the outcome of an earlier request with this key is not known */
export type Send<Input, Result> = (input: Input, attempt: { key: string; isRepeated: boolean }) => Promise<Result>

/**
 * The state of one dialog, from its opening to its end.
 * @param options `name` of the action; `send` makes the request
 */
export function usePaymentAction<Input, Result>(options: {
  readonly paymentId: string
  readonly name: string
  readonly send: Send<Input, Result>
}) {
  const { paymentId, name, send } = options
  const action = `${name} ${paymentId}`
  const client = useQueryClient()
  const [attempt, setAttempt] = useState(() => memory.begin(action) as Attempt<Input>)
  const request = useMutation({
    mutationFn: (input: Input) => send(input, { key: attempt.key, isRepeated: attempt.input !== undefined }),
    onSuccess: () => memory.forget(action),
    onError(error, input) {
      if (endingOf(error) === 'definite') {
        memory.forget(action)
        // What is sent next is another request.
        setAttempt({ key: randomKey(), input: undefined })
      } else if (mayBeDone(error)) {
        const open = { ...attempt, input }
        memory.remember(action, open)
        setAttempt(open)
      }
    },
    // The payment and its history changed, even when the outcome is not known.
    onSettled() {
      void client.invalidateQueries({ queryKey: paymentKey(paymentId) })
      void client.invalidateQueries({ queryKey: ['payments'] })
    },
  })
  const isOpenAttempt = attempt.input !== undefined && !request.isSuccess
  return {
    submit: (input: Input) => request.mutate(attempt.input ?? input),
    isRunning: request.isPending,
    result: request.data,
    error: request.error,
    /** What the open attempt asks for, which cannot be changed any more. */
    openInput: isOpenAttempt ? attempt.input : undefined,
    /** The provider did not say what became of the request, now or before this dialog was opened. */
    isUnknown: isOpenAttempt && (request.error === null || isOutcomeUnknown(request.error)),
  }
}
