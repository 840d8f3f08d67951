// The sign-in: a form for the id of a session.
import { Button, PasswordInput } from '@mantine/core'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { queryClient } from '../api/queryClient.ts'
import { BrandMark } from '../layout/BrandMark.tsx'
import { Notice } from '../parts/Notice.tsx'
import { retryCookie, signIn } from './session.ts'

/** The same session may be valid now, so what the API said of it before is forgotten. */
const forgetRejection = () =>
  queryClient.resetQueries({ queryKey: ['identity'], predicate: ({ state }) => state.status === 'error' })

export function SignInShell({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Paylog`
  }, [title])
  return (
    <main className="signIn">
      <div className="signInCard">
        <p className="brand">
          <BrandMark />
          Paylog
        </p>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  )
}

/** @param props `isRejected`: the API did not accept the last session */
export function SignInPage({
  hasCookie,
  isRejected = false,
}: {
  readonly hasCookie: boolean
  readonly isRejected?: boolean
}) {
  return (
    <SignInShell title="Sign in">
      {isRejected && (
        <Notice tone="bad" role="alert" title="This session is unknown or has expired">
          Sign in with another one.
        </Notice>
      )}
      {hasCookie && (
        <p>
          Sign in to your own site first; the console then uses the session of its cookie. Or enter the id of a session.
        </p>
      )}
      <SessionForm hasCookie={hasCookie} />
    </SignInShell>
  )
}

export function SessionForm({ hasCookie }: { readonly hasCookie: boolean }) {
  const [sessionId, setSessionId] = useState('')
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        if (sessionId.trim() === '') return
        signIn(sessionId.trim())
        void forgetRejection()
      }}
    >
      <PasswordInput
        ref={field}
        label="Session id"
        description="The id of an administrator’s session at your identity backend: what your site sends as X-Session-ID or as Bearer token. It stays in this tab."
        value={sessionId}
        onChange={(event) => setSessionId(event.currentTarget.value)}
        autoComplete="off"
        spellCheck={false}
        required
        visibilityToggleButtonProps={{ 'aria-label': 'Show what is typed' }}
      />
      <div className="row">
        <Button type="submit">Sign in</Button>
        {hasCookie && (
          <Button
            variant="default"
            onClick={() => {
              retryCookie()
              void forgetRejection()
            }}
          >
            Use the cookie again
          </Button>
        )}
      </div>
    </form>
  )
}
