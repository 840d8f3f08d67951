// A dialog that says what will happen before it does.
import { Button, Modal } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { useSession } from '../session/session.ts'

/** A click that was meant for what was shown before a response ends within this time. */
const settleMs = 700

/**
 * Escape closes it, except while the request runs, and while a new session is asked for. A click outside does not: a second
 * click of a double one may land there.
 * @param props `confirm` names the action on its button; `canLeave` while the request runs
 */
export function ConfirmDialog(props: {
  readonly opened: boolean
  readonly title: string
  readonly size?: string | undefined
  readonly confirm: string
  readonly isDangerous?: boolean
  readonly isRunning: boolean
  readonly canLeave?: boolean
  /** Leaves out the confirming button, for example after the end. */
  readonly isOver?: boolean
  /** On the button that leaves. */
  readonly dismiss?: string | undefined
  readonly close: () => void
  readonly submit: () => void
  readonly children: ReactNode
}) {
  const { isRunning, size } = props
  const { isExpired } = useSession()
  const isSettling = useSettling(isRunning)
  const canClose = (!isRunning || props.canLeave === true) && !isExpired
  return (
    <Modal
      opened={props.opened}
      onClose={props.close}
      title={props.title}
      {...(size !== undefined && { size })}
      closeOnEscape={canClose}
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': 'Close', disabled: !canClose }}
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (!isRunning && !isSettling && !props.isOver) props.submit()
        }}
      >
        {props.children}
        <div className="dialogActions">
          <Button variant="default" onClick={props.close} disabled={!canClose}>
            {props.isOver ? 'Close' : (props.dismiss ?? 'Cancel')}
          </Button>
          {!props.isOver && (
            <Button
              type="submit"
              className="confirm"
              color={props.isDangerous ? 'red.9' : undefined}
              loading={isRunning}
              disabled={isSettling}
            >
              {props.confirm}
            </Button>
          )}
        </div>
      </form>
    </Modal>
  )
}

/** Whether a response has just arrived: what the button says now may be something else. */
function useSettling(isRunning: boolean): boolean {
  const [wasRunning, setWasRunning] = useState(isRunning)
  const [isSettling, setSettling] = useState(false)
  if (wasRunning !== isRunning) {
    setWasRunning(isRunning)
    setSettling(!isRunning)
  }
  useEffect(() => {
    if (!isSettling) return
    const timer = setTimeout(() => setSettling(false), settleMs)
    return () => clearTimeout(timer)
  }, [isSettling])
  return isSettling
}
