// A part of a page with a heading of its own.
import { type ReactNode, useId } from 'react'

export function Panel(props: {
  readonly title: string
  readonly actions?: ReactNode
  readonly children: ReactNode
  readonly isFlush?: boolean
}) {
  const id = useId()
  return (
    <section className="panel" aria-labelledby={id}>
      <header className="panelHeader">
        <h2 id={id}>{props.title}</h2>
        {props.actions && <div className="row">{props.actions}</div>}
      </header>
      <div className="panelBody" data-flush={props.isFlush}>
        {props.children}
      </div>
    </section>
  )
}
