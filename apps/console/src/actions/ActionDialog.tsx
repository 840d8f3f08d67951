// The dialog of an action, from what will happen to what came of it.
import type { ReactNode } from 'react'
import { ConfirmDialog } from '../parts/ConfirmDialog.tsx'
import { ActionOutcome } from './ActionOutcome.tsx'
import type { Action } from './useAction.ts'

type AnyAction = Omit<Action<never, unknown>, 'submit' | 'openInput'>

/**
 * @param props `confirm` names the action on its button, `repeat` a repetition after an unknown outcome. `dryRun`: an action
 *   that comes first, on the same button. `fields` are shown while they can be changed, `children` above and `report` below
 *   them always. `success` is what to say when it was done; null leads on to another request. `submit` is not called for a repetition
 */
export function ActionDialog(props: {
  readonly title: string
  readonly action: AnyAction
  readonly dryRun?: AnyAction
  readonly confirm: string
  readonly repeat?: string
  /** On the button that leaves before anything was sent. */
  readonly dismiss?: string
  readonly isDangerous?: boolean
  readonly size?: string
  readonly fields?: ReactNode
  readonly report?: ReactNode
  readonly success: ReactNode
  /** Above `success`, where the action only begins something. */
  readonly done?: string
  readonly close: () => void
  readonly submit: () => void
  readonly children?: ReactNode
}) {
  const { title, action, dryRun, confirm, repeat = 'Repeat it', isDangerous, size, fields, success } = props
  const isRunning = action.isRunning || dryRun?.isRunning === true
  const isOver = action.result !== undefined && success !== null
  return (
    <ConfirmDialog
      opened
      title={title}
      size={size}
      confirm={action.isUnknown ? repeat : confirm}
      isDangerous={isDangerous === true && !action.isUnknown}
      isRunning={isRunning}
      canLeave={action.isUnknown}
      isOver={isOver}
      dismiss={action.isUnknown ? 'Close' : props.dismiss}
      close={props.close}
      submit={action.isUnknown ? action.repeat : props.submit}
    >
      {props.children}
      {fields && !action.isUnknown && !isOver && (
        <fieldset className="stack fields" disabled={isRunning}>
          {fields}
        </fieldset>
      )}
      {props.report}
      {dryRun && <ActionOutcome action={dryRun} success={null} />}
      <ActionOutcome action={action} success={isOver ? success : null} done={props.done} />
    </ConfirmDialog>
  )
}
