// A dialog that says what will happen before it does.
import { Button, Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { useSession } from '../session/session.ts'

/**
 * Escape and clicks outside close it, except while the request runs, and while a new session is asked for.
 * @param props `confirm` names the action on its button
 */
export function ConfirmDialog(props: {
  readonly opened: boolean
  readonly title: string
  readonly confirm: string
  readonly isDangerous?: boolean
  readonly isRunning: boolean
  /** Leaves out the confirming button, for example after the end. */
  readonly isOver?: boolean
  /** On the button that leaves. */
  readonly dismiss?: string | undefined
  readonly close: () => void
  readonly submit: () => void
  readonly children: ReactNode
}) {
  const { isExpired } = useSession()
  const canClose = !props.isRunning && !isExpired
  return (
    <Modal
      opened={props.opened}
      onClose={props.close}
      title={props.title}
      closeOnEscape={canClose}
      closeOnClickOutside={canClose}
      closeButtonProps={{ 'aria-label': 'Close', disabled: !canClose }}
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (!props.isRunning) props.submit()
        }}
      >
        {props.children}
        <div className="row dialogActions">
          <Button variant="default" onClick={props.close} disabled={!canClose}>
            {props.isOver ? 'Close' : (props.dismiss ?? 'Do nothing')}
          </Button>
          {!props.isOver && (
            <Button type="submit" color={props.isDangerous ? 'red.9' : undefined} loading={props.isRunning}>
              {props.confirm}
            </Button>
          )}
        </div>
      </form>
    </Modal>
  )
}
