// The frame of a page: title, actions, content.
import { useMatch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'

let announcedPage: string | undefined

/**
 * Names the page and, after a navigation, moves the focus to its title, so that a screen reader says where one is.
 * @param props `title` is also the document's
 */
export function Page(props: {
  readonly title: string
  readonly lead?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}) {
  const { title, lead, actions, children } = props
  const heading = useRef<HTMLHeadingElement>(null)
  // Of this page, unlike the location, which is already that of the next page while its files are loaded.
  const page = useMatch({ strict: false, select: ({ id }) => id })
  useEffect(() => {
    document.title = `${title} · Paylog`
  }, [title])
  useEffect(() => {
    // Filters change the search of the URL, not the path, and keep the focus.
    if (announcedPage !== undefined && announcedPage !== page) heading.current?.focus({ preventScroll: true })
    announcedPage = page
  }, [page])
  return (
    <>
      <header className="pageHeader">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead && <div className="lead">{lead}</div>}
        </div>
        {actions && <div className="row">{actions}</div>}
      </header>
      {children}
    </>
  )
}
