// The nonce of the page's content security policy, for style elements that libraries create.

const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''

// The library that keeps the page from scrolling behind a dialog looks for it here.
Object.assign(globalThis, { __webpack_nonce__: nonce })

export const styleNonce = (): string => nonce
