// A message that stands out from the page.
import type { ReactNode } from 'react'
import type { Tone } from './Badge.tsx'

/** @param props `role` is "alert" for what must be read at once, "status" for what may wait */
export function Notice(props: {
  readonly tone: Tone
  readonly title: string
  readonly role?: 'alert' | 'status'
  readonly children?: ReactNode
}) {
  return (
    <div className="notice" data-tone={props.tone} role={props.role}>
      <p className="noticeTitle">{props.title}</p>
      {props.children}
    </div>
  )
}
